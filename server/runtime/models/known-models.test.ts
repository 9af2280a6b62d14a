import { expect, test } from "bun:test";
import { costOf } from "../../domain/cost.ts";
import { builtInPrice, knownModel, knownModels } from "./known-models.ts";

const usage = {
  input_tokens: 1_000_000,
  output_tokens: 100_000,
  cached_input_tokens: 400_000,
  reasoning_tokens: 50_000,
};

test("a known model has its list price, with the date of the price", () => {
  expect(costOf(builtInPrice("openai/gpt-4.1"), usage)).toBe(2.2);
  expect(builtInPrice("openai/gpt-4.1")).toEqual({
    input: 2,
    cached_input: 0.5,
    output: 8,
    max_output_tokens: 32_768,
    as_of: "2026-04",
    source: "built_in",
  });
});

test.each([
  ["an unknown model", "openai/gpt-0"],
  ["a server of one's own", "openai_compatible/gpu/gpt-4.1"],
  ["a model on one's own machine", "ollama/llama3.3"],
  ["a prompt beyond the listed price", "google/gemini-2.5-pro"],
])("the cost of %s is unknown", (_, model) => {
  expect(costOf(builtInPrice(model), usage)).toBeNull();
});

test("embedding models of OpenAI and Google cost their input", () => {
  expect(costOf(builtInPrice("openai/text-embedding-3-small"), { ...usage, output_tokens: 0 })).toBe(0.02);
  expect(costOf(builtInPrice("google/gemini-embedding-001"), { ...usage, output_tokens: 0 })).toBe(0.15);
});

test("built-in models are free", () => {
  expect(costOf(builtInPrice("test/echo"), usage)).toBe(0);
});

test("Anthropic's dated names are known by the plain one, OpenAI's snapshots are not", () => {
  expect(knownModel("anthropic", "claude-opus-4-5-20251101")?.model).toBe("claude-opus-4-5");
  expect(knownModel("openai", "gpt-4o-2024-05-13")).toBeNull();
});

test("no price is below that of the cache, none has fractions of a nano-dollar, and no model is listed twice", () => {
  for (const { price } of knownModels) {
    expect(price.cached_input).toBeLessThan(price.input);
    for (const each of [price.input, price.cached_input, price.output])
      expect(Math.round(each * 1000) / 1000).toBe(each);
  }
  expect(new Set(knownModels.map((each) => `${each.provider}/${each.model}`)).size).toBe(knownModels.length);
});
