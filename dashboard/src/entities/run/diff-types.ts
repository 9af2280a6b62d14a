import type { Both } from "../../../../server/core/diff.ts";
import type { TraceStep } from "../../../../server/wire/trace.ts";

export type Side = keyof Both<unknown>;
export type Change = "equal" | "changed" | "only_a" | "only_b";

/** A step of a trace, as far as it is compared. */
export type DiffStep = Pick<
  TraceStep,
  | "id"
  | "step_index"
  | "type"
  | "name"
  | "status"
  | "latency_ms"
  | "model"
  | "input"
  | "output"
  | "reasoning"
  | "error"
  | "approval"
  | "finish_reason"
  | "usage"
  | "replayed"
  | "files"
>;
