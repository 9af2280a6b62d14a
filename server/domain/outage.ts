import type { CodedError } from "./errors.ts";

/** A model whose calls fail, as callers and operators see it. */
export interface Outage {
  /** The model's full name. */
  model: string;
  /** `half_open`: the next call, or the one on its way, tries whether the model answers again. */
  state: "open" | "half_open";
  since_ms: number;
  /** The newest failure. */
  error: CodedError;
}

/** Model for a call; `skipped` is the outage of the first one named, if another was chosen. Or all their outages. */
export type Admission = { model: string; skipped: Outage | null } | { refused: Outage[] };

/**
 * Result of a call for its model's circuit breaker. `answering`: the answer has begun. `unknown`: the call says nothing
 * about its server, as when its run was cancelled.
 */
export type CallResult =
  | { is: "answering" | "answered" | "unknown" }
  | { is: "failed"; error: CodedError; retry_after_ms: number | null };
