import type { TraceStep } from "../../../../server/domain/api-types/trace.ts";
import { costOf } from "../../../../server/domain/cost.ts";
import type { ModelPrice } from "../../../../server/domain/price.ts";
import type { StepUsage } from "../../../../server/domain/trace.ts";
import type { ForkDraft } from "./fork-draft.ts";

/** A model's price in USD per million tokens. */
type Price = Pick<
  ModelPrice,
  "input" | "cached_input" | "cache_write_5m" | "cache_write_1h" | "output" | "priced_up_to"
>;

/**
 * Reason for an unknown cost: token usage missing, model without a price, prompt longer than the price covers, or an
 * unbilled judge.
 */
export type Unpriced = "tokens" | "price" | "length" | "judge";

/** Estimate from the recorded steps that a fork repeats. Null means unknown. */
export interface ForkEstimate {
  model_calls: number;
  tokens: number | null;
  cost_usd: number | null;
  /** Reason for a null cost; the first of several. */
  unpriced: Unpriced | null;
  /** Number of subagents that run again; their cost is not included. */
  agents: number;
}

/** Input of the estimate. */
export interface ForkPlan {
  steps: readonly TraceStep[];
  step: TraceStep;
  draft: Pick<ForkDraft, "tools">;
  /** Model of the fork if it differs from the recorded one. */
  model: string | null;
  priceOf: (model: string) => Price | null;
}

/**
 * Estimates a fork that continues like the recording: the model calls after its step, at their billed cost or at the
 * price of another model. Null if nothing was recorded after the step.
 */
export function forkEstimate({ steps, step, draft, model, priceOf }: ForkPlan): ForkEstimate | null {
  const later = steps.filter(({ step_index }) => step_index > step.step_index);
  const calls = later.filter(({ type }) => type === "model_call");
  if (calls.length === 0) return null;
  const spent = later.filter(({ type }) => type !== "tool_call" && type !== "subagent" && type !== "approval");
  const billed = spent.filter(({ type, usage }) => type === "model_call" || usage !== null);
  // Under the other rules, a subagent call with equal arguments is answered from the recording.
  const agents = draft.tools === "live" ? later.filter(({ type }) => type === "subagent").length : 0;
  const costs = billed.map((each) => costAgain(each, model, priceOf));
  const unpriced = costs.find((cost) => typeof cost === "string") ?? null;
  return {
    model_calls: calls.length,
    tokens: sum(billed.map(({ usage }) => tokensOf(usage))),
    cost_usd: sum(costs.map((cost) => (typeof cost === "string" ? null : cost))),
    unpriced,
    agents,
  };
}

/** Sums values; null if any is null. */
const sum = (values: readonly (number | null)[]): number | null =>
  values.reduce<number | null>((total, value) => (total === null || value === null ? null : total + value), 0);

function tokensOf(usage: StepUsage | null): number | null {
  if (usage?.input_tokens == null || usage.output_tokens == null) return null;
  return usage.input_tokens + usage.output_tokens;
}

function costAgain(step: TraceStep, other: string | null, priceOf: ForkPlan["priceOf"]): number | Unpriced {
  const { type, usage, model: recorded } = step;
  // A judge uses its own model, independent of the fork's.
  if (type === "guardrail") return usage?.cost_usd ?? "judge";
  if (other === null && usage?.cost_usd != null) return usage.cost_usd;
  const model = other ?? recorded;
  const price = model === null ? null : priceOf(model);
  if (usage?.input_tokens == null || usage.output_tokens == null) return "tokens";
  if (!price) return "price";
  return costOf(price, usage) ?? "length";
}
