import type { Budget } from "../core/budget-schema.ts";
import type { ModelRequest, ModelUsage } from "../core/model-call.ts";
import type { ModelSpend, RunUsage } from "../core/run-event.ts";
import type { RunState } from "../core/run-state.ts";
import type { Scope } from "../core/scope.ts";

/** A run that pays: what it may spend, and what it has spent on record. */
export interface Standing {
  agent_id: string;
  budget: Budget | null;
  usage: RunUsage;
}

export const standingOf = ({ run, usage }: Pick<RunState, "run" | "usage">): Standing => ({
  agent_id: run!.agent_id,
  budget: run!.budget ?? null,
  usage,
});

/** For whom an operator's model is asked by what is no turn of a run: a search, or what makes texts searchable. */
export interface Payer extends Scope {
  run?: Standing & { run_id: string };
  /** Hears what each call came to, once it is counted. */
  told?(spent: ModelSpend): void;
}

/**
 * Notes what a request came to; null is what the provider did not say. `said` counts the UTF-16 code units of the answer,
 * `request` is what was asked where that is a part of the call.
 */
type Count = (spoken: { usage: ModelUsage; failed?: boolean; said?: number; request?: ModelRequest }) => void;

/** What a model read that says nothing. */
export const read = (input_tokens: number | null): { usage: ModelUsage } => ({
  usage: { input_tokens, output_tokens: 0, cached_input_tokens: null, reasoning_tokens: null },
});

/**
 * Makes calls of a model by its full name, if the budgets have room for the largest that they can be, and as soon as its
 * server has a place; they are counted in the usage of the day, and their price is the operator's. Throws `BudgetError`,
 * the signal's reason, or what `make` throws.
 */
export type Pay = <T>(
  payer: Payer,
  call: { model: string; request: ModelRequest; signal?: AbortSignal },
  make: (count: Count) => Promise<T>,
) => Promise<T>;

/** A budget has no room for the call. */
export class BudgetError extends Error {
  override readonly name = "BudgetError";
  readonly code = "budget_exceeded";
}

/** Texts that a model reads and says nothing of, as a request whose size can be counted. */
export const readingOf = (texts: readonly string[]): ModelRequest => ({
  messages: [{ role: "user", content: texts.join("\n") }],
  tools: [],
  settings: { max_output_tokens: 0 },
});

/** Nobody pays, and nothing is counted: of what has no budgets. */
export const unpaid: Pay = (_payer, _call, make) => make(() => {});
