import { newId } from "./ids.ts";
import type { RunEvent, StepCompleted, StepStarted } from "./run-event.ts";

type Begun = Pick<StepStarted, "step_index" | "step_type" | "turn_index" | "name"> &
  Partial<Pick<StepStarted, "tool_call_id" | "input_hash" | "tools_loaded">>;

/** First start of a step. */
export const startStep = (step: Begun): RunEvent => ({
  type: "step.started",
  step_id: newId("step"),
  attempt: 1,
  tool_call_id: null,
  input_hash: null,
  ...step,
});

type Ended = Pick<StepCompleted, "step_index" | "step_type" | "status" | "latency_ms"> &
  Partial<Pick<StepCompleted, "error" | "answer">>;

export const endStep = (step: Ended): RunEvent => ({ type: "step.completed", error: null, answer: null, ...step });
