import type { ModelSpend, RunEvent } from "./run-event.ts";
import type { OpenStep } from "./run-state.ts";

/** The process ended in the middle of a step; `doing` says of what: "the model was answering". */
export const processRestarted = (doing: string) => ({
  code: "process_restarted",
  message: `The process ended while ${doing}.`,
});

/** Begins a step again: what its newest start streamed is void, and the next attempt has the next number. */
export const restartStep = (
  { step_type, step_index, attempt, anchor }: OpenStep,
  reason: { code: string; message: string },
  { delay_ms = 0, spent = null, said = "" }: { delay_ms?: number; spent?: ModelSpend | null; said?: string } = {},
): RunEvent => ({
  type: "step.restarted",
  step_type,
  step_index,
  attempt: attempt + 1,
  discards: anchor,
  reason,
  delay_ms,
  spent,
  ...(said !== "" && { said }),
});
