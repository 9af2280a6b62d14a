import { describe, expect, test } from "bun:test";
import { costOf, nanoUsd, usdOf } from "./cost.ts";
import type { ModelPrice } from "./price.ts";

const price: ModelPrice = { input: 2, cached_input: 0.5, output: 8, as_of: "2026-04", source: "built_in" };
const usage = {
  input_tokens: 1_000_000,
  output_tokens: 100_000,
  cached_input_tokens: 400_000,
  reasoning_tokens: 50_000,
};

test("cached tokens cost their own price, and reasoning is part of the output", () => {
  expect(costOf(price, usage)).toBe(2.2);
});

test("nothing used costs nothing", () => {
  expect(costOf(price, { input_tokens: 0, output_tokens: 0, cached_input_tokens: 0, reasoning_tokens: 0 })).toBe(0);
});

test("a cached count that is missing is no discount, and one beyond the prompt is no profit", () => {
  expect(costOf(price, { ...usage, cached_input_tokens: null })).toBe(2.8);
  expect(costOf(price, { ...usage, cached_input_tokens: 9_000_000 })).toBe(1.3);
});

test.each([
  ["an unknown price", null, usage],
  ["unknown input", price, { ...usage, input_tokens: null }],
  ["unknown output", price, { ...usage, output_tokens: null }],
  ["a prompt beyond the listed price", { ...price, priced_up_to: 999_999 }, usage],
])("the cost with %s is unknown", (_, of, counts) => {
  expect(costOf(of, counts)).toBeNull();
});

test("a prompt up to the listed price costs it", () => {
  expect(costOf({ ...price, priced_up_to: 1_000_000 }, usage)).toBe(2.2);
});

test("a million calls at an odd price add up to their cost, to the nano-dollar", () => {
  const counts = { ...usage, cached_input_tokens: 0, input_tokens: 3, output_tokens: 7 };
  const call = costOf({ ...price, input: 0.1, output: 0.7 }, counts)!;
  let nano = 0;
  for (let n = 0; n < 1_000_000; n++) nano += nanoUsd(call);
  expect(usdOf(nano)).toBe(5.2);
});

describe("tokens written to a cache", () => {
  const writing: ModelPrice = { ...price, cache_write_5m: 2.5, cache_write_1h: 4 };
  const written = { ...usage, output_tokens: 0, cache_write_5m_tokens: 200_000, cache_write_1h_tokens: 100_000 };

  test("cost their own prices, and each token of the prompt is paid once", () => {
    expect(costOf(writing, written)).toBe(1.7);
  });

  test("cost as much as others where they have no price", () => {
    expect(costOf(price, written)).toBe(1.4);
  });

  test("cost no more than the prompt has tokens, whatever a provider counts", () => {
    const lies = { ...written, cache_write_5m_tokens: 9_000_000, cached_input_tokens: 9_000_000 };
    expect(costOf(writing, { ...lies, cache_write_1h_tokens: null })).toBe(2.5);
    expect(costOf(writing, { ...lies, cache_write_1h_tokens: 9_000_000 })).toBe(4);
  });
});
