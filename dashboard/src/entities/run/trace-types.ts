import type { TraceStep, Trace as WholeTrace } from "../../../../server/wire/trace.ts";

/** What is said of a trace beside its steps. */
export type Trace = Omit<WholeTrace, "steps" | "steps_has_more">;

export type StepStatus = TraceStep["status"];

/** What a model read, word for word. */
export type Prompt = NonNullable<TraceStep["prompt"]>;

/** The steps of a run as far as they are here. */
export interface LoadedTrace {
  trace: Trace;
  steps: TraceStep[];
  /** There are further pages. */
  hasMore: boolean;
}
