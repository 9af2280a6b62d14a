import { expect, test } from "bun:test";
import type { TraceStep } from "../../../../server/domain/api-types/trace.ts";
import type { StepUsage } from "../../../../server/domain/trace.ts";
import { type ForkPlan, forkEstimate } from "./fork-estimate.ts";

const usage = (more: Partial<StepUsage> = {}): StepUsage => ({
  input_tokens: 1000,
  output_tokens: 100,
  cached_input_tokens: 400,
  reasoning_tokens: 0,
  cost_usd: 0.01,
  estimated: false,
  ...more,
});

const step = (step_index: number, type: string, spent: StepUsage | null = null): TraceStep =>
  ({
    id: `stp_${step_index}`,
    step_index,
    type,
    model: type === "model_call" || type === "guardrail" ? "openai/a" : null,
    usage: spent,
  }) as TraceStep;

const steps = [
  step(0, "model_call", usage()),
  step(1, "tool_call"),
  step(2, "model_call", usage({ cost_usd: 0.02 })),
  step(3, "subagent", usage({ cost_usd: 1 })),
  step(4, "model_call", usage({ cost_usd: 0.04 })),
];
const plan = (more: Partial<ForkPlan>): ForkPlan => ({
  steps,
  step: steps[1]!,
  draft: { tools: "recorded_then_live" },
  model: null,
  priceOf: () => null,
  ...more,
});

test("only model calls after the step cost again, at their billed cost", () => {
  expect(forkEstimate(plan({}))).toEqual({
    model_calls: 2,
    tokens: 2200,
    agents: 0,
    cost_usd: 0.06,
    unpriced: null,
  });
});

test("subagents that are called again are added if tools are live", () => {
  expect(forkEstimate(plan({ draft: { tools: "live" } }))?.agents).toBe(1);
  expect(forkEstimate(plan({ draft: { tools: "recorded_only" } }))?.agents).toBe(0);
});

test("another model is estimated at its custom price, with cached tokens at theirs", () => {
  const prices = { "openai/b": { input: 10, cached_input: 1, output: 100 } };
  const priceOf = (model: string) => prices[model as "openai/b"] ?? null;
  // Two calls with 600 tokens at $10, 400 at $1 and 100 at $100 per million.
  expect(forkEstimate(plan({ model: "openai/b", priceOf }))?.cost_usd).toBeCloseTo(2 * 0.0164, 10);
  expect(forkEstimate(plan({ model: "openai/c", priceOf }))).toMatchObject({ cost_usd: null, unpriced: "price" });
});

test("one unknown cost makes the sum unknown, never zero", () => {
  const unknown = [...steps.slice(0, 4), step(4, "model_call", null)];
  expect(forkEstimate(plan({ steps: unknown }))).toMatchObject({
    model_calls: 2,
    tokens: null,
    cost_usd: null,
    unpriced: "tokens",
  });
});

test("a guardrail's judge costs its billed amount, also with another model, and is never estimated with that model", () => {
  const priceOf = () => ({ input: 10, cached_input: 1, output: 100 });
  const judged = (cost_usd: number | null) => [
    ...steps,
    step(5, "guardrail", usage({ cost_usd })),
    step(6, "guardrail"),
  ];
  const other = (cost_usd: number | null) =>
    forkEstimate(plan({ steps: judged(cost_usd), model: "openai/b", priceOf }));
  expect(other(0.5)?.cost_usd).toBeCloseTo(0.5 + 2 * 0.0164, 10);
  expect(other(0.5)?.tokens).toBe(3300);
  expect(other(null)).toMatchObject({ cost_usd: null, unpriced: "judge" });
});

test("an unbilled call is estimated at its model's current price", () => {
  const free = [steps[0]!, steps[1]!, step(2, "model_call", usage({ cost_usd: null }))];
  const priceOf = () => ({ input: 10, cached_input: 1, output: 100 });
  expect(forkEstimate(plan({ steps: free, priceOf }))?.cost_usd).toBeCloseTo(0.0164, 10);
});

test("a prompt longer than its price covers has an unknown cost", () => {
  const priceOf = () => ({ input: 10, cached_input: 1, output: 100, priced_up_to: 500 });
  expect(forkEstimate(plan({ model: "openai/b", priceOf }))).toMatchObject({ cost_usd: null, unpriced: "length" });
});

test("there is no estimate after the last model call", () => {
  expect(forkEstimate(plan({ step: steps[4]! }))).toBeNull();
});
