import { expect, test } from "bun:test";
import { usage } from "./__fixtures__/events.ts";
import { addChildRun, addModelCall, addToolResult, noUsage, tokensOf } from "./usage.ts";

const spend = { usage, cost_usd: 0.25, estimated: false };
const unknown = { input_tokens: null, output_tokens: null, cached_input_tokens: null, reasoning_tokens: null };

test("calls add up", () => {
  expect(addModelCall(addModelCall({ ...noUsage, tool_calls: 3 }, spend), spend)).toEqual({
    input_tokens: 20,
    output_tokens: 8,
    total_tokens: 28,
    cached_input_tokens: 4,
    reasoning_tokens: 2,
    model_calls: 2,
    tool_calls: 3,
    cost_usd: 0.5,
    estimated: false,
  });
});

test("an unknown count of one call makes the sum unknown for good", () => {
  const once = addModelCall(noUsage, { usage: { ...unknown, input_tokens: 5 }, cost_usd: null, estimated: false });
  const sum = addModelCall(once, spend);
  expect(sum).toMatchObject({
    input_tokens: 15,
    output_tokens: null,
    total_tokens: null,
    cost_usd: null,
    model_calls: 2,
  });
});

test("zero is zero, and not unknown", () => {
  const zero = { input_tokens: 0, output_tokens: 0, cached_input_tokens: 0, reasoning_tokens: 0 };
  expect(addModelCall(noUsage, { usage: zero, cost_usd: 0, estimated: false })).toEqual({ ...noUsage, model_calls: 1 });
});

test("one estimate makes the sum an estimate", () => {
  const sum = addModelCall(addModelCall(noUsage, { ...spend, estimated: true }), spend);
  expect(sum.estimated).toBe(true);
});

test("a refused tool call is not counted, and a child run's usage is", () => {
  const asked = { ...noUsage, tool_calls: 3 };
  expect(addToolResult(asked, { refused: true })).toEqual({ ...noUsage, tool_calls: 2 });
  expect(addToolResult(asked, {})).toEqual(asked);
  const child = addModelCall({ ...noUsage, tool_calls: 2 }, spend);
  expect(addToolResult(asked, { usage: child })).toEqual({ ...child, tool_calls: 5 });
});

test("tokens written to a cache add up, and stay absent where no provider counts them", () => {
  const writes = { ...spend, usage: { ...usage, cache_write_5m_tokens: 3 } };
  const twice = addModelCall(addModelCall(noUsage, writes), writes);
  expect(twice.cache_write_5m_tokens).toBe(6);
  expect(addModelCall(twice, spend).cache_write_5m_tokens).toBe(6);
  expect(addChildRun(noUsage, twice).cache_write_5m_tokens).toBe(6);
  expect(tokensOf(twice)).toMatchObject({ cache_write_5m_tokens: 6 });
  expect(twice).not.toHaveProperty("cache_write_1h_tokens");
  expect(addModelCall(noUsage, spend)).not.toHaveProperty("cache_write_5m_tokens");
});

test("tokens written to a cache are unknown if those of one call are", () => {
  const writes = { ...spend, usage: { ...usage, cache_write_5m_tokens: 3 } };
  const uncounted = { usage: unknown, cost_usd: null, estimated: false };
  expect(addModelCall(addModelCall(noUsage, writes), uncounted).cache_write_5m_tokens).toBeNull();
  expect(addModelCall(addModelCall(noUsage, uncounted), writes).cache_write_5m_tokens).toBeNull();
});
