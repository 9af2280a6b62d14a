import { costOf } from "../../../../server/core/cost.ts";
import type { ModelPrice } from "../../../../server/core/price.ts";
import type { StepUsage } from "../../../../server/core/trace.ts";
import type { TraceStep } from "../../../../server/wire/trace.ts";
import type { ForkDraft } from "./fork-draft.ts";

/** What a model costs, in USD per million tokens. */
type Price = Pick<ModelPrice, "input" | "cached_input" | "output" | "priced_up_to">;

/** Why a cost is not known: the tokens were not told, the model has no price, or none for such a long prompt; or a guardrail's judge was not billed. */
export type Unpriced = "tokens" | "price" | "length" | "judge";

/** What the record says about the steps that a fork makes again. Null is unknown, never nothing. */
export interface ForkEstimate {
  model_calls: number;
  tokens: number | null;
  cost_usd: number | null;
  /** Why the cost is null; of several reasons the first. */
  unpriced: Unpriced | null;
  /** Agents that are called again: what they take comes on top. */
  agents: number;
}

/** What is known of where the fork goes. */
export interface ForkPlan {
  steps: readonly TraceStep[];
  step: TraceStep;
  draft: Pick<ForkDraft, "tools">;
  /** The model of the fork where it is another one than that of the record. */
  model: string | null;
  priceOf: (model: string) => Price | null;
}

/**
 * What the fork takes if it goes on as the record did: the model calls after its step, at what they were billed, or at
 * the price of another model. Null where nothing is recorded after the step.
 */
export function forkEstimate({ steps, step, draft, model, priceOf }: ForkPlan): ForkEstimate | null {
  const later = steps.filter(({ step_index }) => step_index > step.step_index);
  const calls = later.filter(({ type }) => type === "model_call");
  if (calls.length === 0) return null;
  const spent = later.filter(({ type }) => type !== "tool_call" && type !== "subagent" && type !== "approval");
  const billed = spent.filter(({ type, usage }) => type === "model_call" || usage !== null);
  // Under the other rules an agent that was called answers from the record, as long as it is called as it was.
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

/** One that is unknown makes the sum unknown. */
const sum = (values: readonly (number | null)[]): number | null =>
  values.reduce<number | null>((total, value) => (total === null || value === null ? null : total + value), 0);

function tokensOf(usage: StepUsage | null): number | null {
  if (usage?.input_tokens == null || usage.output_tokens == null) return null;
  return usage.input_tokens + usage.output_tokens;
}

function costAgain(step: TraceStep, other: string | null, priceOf: ForkPlan["priceOf"]): number | Unpriced {
  const { type, usage, model: recorded } = step;
  // A judge has a model of its own, whichever that of the fork is.
  if (type === "guardrail") return usage?.cost_usd ?? "judge";
  if (other === null && usage?.cost_usd != null) return usage.cost_usd;
  const model = other ?? recorded;
  const price = model === null ? null : priceOf(model);
  if (usage?.input_tokens == null || usage.output_tokens == null) return "tokens";
  if (!price) return "price";
  return costOf(price, usage) ?? "length";
}
