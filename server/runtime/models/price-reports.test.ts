import { describe, expect, test } from "bun:test";
import { costOf } from "../../domain/cost.ts";
import type { ModelPrice } from "../../domain/price.ts";
import { createPriceTable } from "../../domain/price-table.ts";
import { addModelCall, noUsage } from "../../domain/usage.ts";
import { builtInTable } from "./known-models.ts";

// Wrong prices that users of other products reported, each with the public report.

const now = Date.parse("2026-11-29T12:00:00Z");
const priceOf = (model: string, at = now): ModelPrice | null => builtInTable().find(model, at)?.price ?? null;
const usage = (input_tokens: number, output_tokens: number, cached_input_tokens = 0) => ({
  input_tokens,
  output_tokens,
  cached_input_tokens,
  reasoning_tokens: 0,
});

describe("prices of long prompts", () => {
  test("apply above the threshold (comet-ml/opik 6982)", () => {
    expect(costOf(priceOf("google/gemini-2.5-pro"), usage(200_000, 0))).toBe(0.25);
    expect(costOf(priceOf("google/gemini-2.5-pro"), usage(300_000, 1000))).toBe(0.75 + 0.015);
  });

  test("apply to the whole call, not to the part above (junhoyeo/tokscale 862)", () => {
    expect(costOf(priceOf("openai/gpt-5.4"), usage(272_000, 100_000))).toBe(3.61);
  });

  test("count cached tokens towards the threshold (lidge-jun/opencodex 908)", () => {
    expect(costOf(priceOf("openai/gpt-5.4"), usage(278_476, 0, 7936))).toBe(270_540 * 5e-6 + 7936 * 0.5e-6);
  });
});

describe("names", () => {
  test("are never matched by their beginning (continuedev/continue 13184)", () => {
    expect(priceOf("openai/gpt-4.1-nano")).toMatchObject({ input: 0.1, output: 0.4 });
    expect(priceOf("openai/gpt-4o-mini")).toMatchObject({ input: 0.15, output: 0.6 });
    expect(priceOf("anthropic/claude-sonnet-5-5")?.estimated).toBe(true);
  });

  test("with a dot are those with a dash (supernovae-st/nika 1368)", () => {
    expect(priceOf("anthropic/claude-opus-4.1")).toEqual(priceOf("anthropic/claude-opus-4-1"));
  });

  test("of a region cost more than global ones (BerriAI/litellm 30768, PostHog/posthog 74366)", () => {
    const [us, global] = ["us", "global"].map((at) => priceOf(`bedrock/${at}.anthropic.claude-sonnet-5`)!);
    expect([us!.input, global!.input]).toEqual([2.2, 2]);
  });

  test("of a global profile are known (pydantic/logfire 2162)", () => {
    expect(priceOf("bedrock/global.anthropic.claude-opus-4-8-v1:0")?.input).toBe(5);
  });

  test("of Japan and Australia are regions too (mastra-ai/mastra 19360)", () => {
    for (const at of ["jp", "au"]) expect(priceOf(`bedrock/${at}.anthropic.claude-opus-4-8`)?.input).toBe(5.5);
  });
});

test("an hour's cache write has a price of its own (earendil-works/pi 5737)", () => {
  expect(priceOf("anthropic/claude-sonnet-4-5")).toMatchObject({ cache_write_5m: 3.75, cache_write_1h: 6 });
});

test("a model without a price never costs nothing, and makes the sum unknown (SocialGouv/iterion 473)", () => {
  const cost_usd = costOf(priceOf("openrouter/kimi-code/k9"), usage(1000, 1000));
  expect(cost_usd).toBeNull();
  const spent = { usage: usage(1000, 1000), cost_usd, estimated: false };
  expect(addModelCall(noUsage, spent).cost_usd).toBeNull();
});

test("a line without prices is no free model (BerriAI/litellm 36561)", () => {
  expect(priceOf("google/gemma-3-27b-it")).toBeNull();
  expect(builtInTable().lines.filter(({ id, rates }) => rates.input === 0 && !id.endsWith(":free"))).toEqual([]);
});

test("a price that was announced for a day applies from that day on (knostic/OpenAnt 216)", () => {
  const [before, after] = ["2026-12-31T23:59:59Z", "2027-01-01T00:00:00Z"].map(Date.parse);
  expect(priceOf("google/gemini-3.6-flash", before)).toMatchObject({ input: 0.75, as_of: "2026-09-23" });
  expect(priceOf("google/gemini-3.6-flash", after)).toMatchObject({ input: 1.5, as_of: "2027-01-01" });
});

test("a price that depends on the hour is the highest, as an estimate", () => {
  expect(priceOf("deepseek/deepseek-v4-pro")).toMatchObject({ input: 1.32, output: 3.96, estimated: true });
});

test("cached tokens are part of the prompt, and not paid twice (ls1intum/edutelligence 892)", () => {
  expect(costOf(priceOf("openai/gpt-4.1"), usage(1_000_000, 0, 400_000))).toBe(0.6 * 2 + 0.4 * 0.5);
});

test("a router's price is the router's, whatever the maker asks (lidge-jun/opencodex 908)", () => {
  const line = (id: string, input: number) => ({ id, rates: { input, cached_input: input, output: 1 }, source: "a" });
  const lines = [line("openai/gpt-5.4", 2), line("openrouter/openai/gpt-5.4", 3)];
  const table = createPriceTable({ as_of: "2026-11-29", lines }, "table");
  expect(table.find("openrouter/openai/gpt-5.4", now)?.price.input).toBe(3);
  expect(table.find("openrouter/gpt-5.4", now)).toBeNull();
});
