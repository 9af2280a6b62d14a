import { expect, test } from "bun:test";
import { costOf, knownModel, knownModels } from "./known-models.ts";

const usage = {
  input_tokens: 1_000_000,
  output_tokens: 100_000,
  cached_input_tokens: 400_000,
  reasoning_tokens: 50_000,
};

test("cached tokens cost their own price, and reasoning is part of the output", () => {
  expect(costOf("openai/gpt-4.1", usage)).toBeCloseTo(0.6 * 2 + 0.4 * 0.5 + 0.1 * 8, 10);
});

test("nothing used costs nothing", () => {
  const nothing = { input_tokens: 0, output_tokens: 0, cached_input_tokens: 0, reasoning_tokens: 0 };
  expect(costOf("openai/gpt-4.1", nothing)).toBe(0);
});

test("a cached count that is missing is no discount", () => {
  expect(costOf("openai/gpt-4.1", { ...usage, cached_input_tokens: null })).toBeCloseTo(2 + 0.8, 10);
});

test.each([
  ["an unknown model", "openai/gpt-0", usage],
  ["a server of one's own", "openai_compatible/gpu/gpt-4.1", usage],
  ["unknown input", "openai/gpt-4.1", { ...usage, input_tokens: null }],
  ["unknown output", "openai/gpt-4.1", { ...usage, output_tokens: null }],
  ["a prompt beyond the listed price", "google/gemini-2.5-pro", usage],
])("the cost of %s is unknown", (_, model, counts) => {
  expect(costOf(model, counts)).toBeNull();
});

test("built-in models are free", () => {
  expect(costOf("test/echo", usage)).toBe(0);
});

test("Anthropic's dated names are known by the plain one, OpenAI's snapshots are not", () => {
  expect(knownModel("anthropic", "claude-opus-4-5-20251101")?.model).toBe("claude-opus-4-5");
  expect(knownModel("openai", "gpt-4o-2024-05-13")).toBeNull();
});

test("no price is below that of the cache, and no model is listed twice", () => {
  for (const { price } of knownModels) expect(price.cached_input).toBeLessThan(price.input);
  expect(new Set(knownModels.map((each) => `${each.provider}/${each.model}`)).size).toBe(knownModels.length);
});
