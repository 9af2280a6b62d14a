import type { Budget } from "../../domain/budget-schema.ts";
import type { ModelRequest, ModelUsage } from "../../domain/model-call.ts";
import type { ModelSpend, RunUsage } from "../../domain/run-event.ts";
import type { RunState } from "../../domain/run-state.ts";
import type { Scope } from "../../domain/scope.ts";

/** A run that pays: its budget and its recorded usage. */
export interface Standing {
  agent_id: string;
  budget: Budget | null;
  usage: RunUsage;
}

export const standingOf = ({ run, usage }: Pick<RunState, "run" | "usage">): Standing => ({
  agent_id: run.agent_id,
  budget: run.budget ?? null,
  usage,
});

/** Payer of a model call outside of a run's turns: a search, or the indexing of texts. */
export interface SpendGuard extends Scope {
  run?: Standing & { run_id: string };
  /** Called with the cost of each call once it is counted. */
  told?(spent: ModelSpend): void;
}

/**
 * Counts a request; null is a number that the provider did not report. `said` is the number of UTF-16 code units of the
 * answer, `request` the part of the call that was sent.
 */
type Count = (spoken: { usage: ModelUsage; failed?: boolean; said?: number; request?: ModelRequest }) => void;

/** Usage of a model that only reads. */
export const read = (input_tokens: number | null): { usage: ModelUsage } => ({
  usage: { input_tokens, output_tokens: 0, cached_input_tokens: null, reasoning_tokens: null },
});

/**
 * Makes a model call if the budgets have room for its maximum cost, once its server has a free slot. It is counted in
 * the day's usage at the operator's price. Throws `BudgetError`, the signal's reason, or the error of `make`.
 */
export type Pay = <T>(
  payer: SpendGuard,
  call: { model: string; request: ModelRequest; signal?: AbortSignal },
  make: (count: Count) => Promise<T>,
) => Promise<T>;

/** A budget has no room for the call. */
export class BudgetError extends Error {
  override readonly name = "BudgetError";
  readonly code = "budget_exceeded";
}

/** Returns texts that a model only reads as a request, to count its size. */
export const readingOf = (texts: readonly string[]): ModelRequest => ({
  messages: [{ role: "user", content: texts.join("\n") }],
  tools: [],
  settings: { max_output_tokens: 0 },
});

/** Makes calls without budget and without counting. */
export const unpaid: Pay = (_payer, _call, make) => make(() => {});
