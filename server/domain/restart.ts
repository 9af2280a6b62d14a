import type { ModelSpend, RunEvent } from "./run-event.ts";
import type { OpenStep } from "./run-state.ts";

/** Outcome of a discarded attempt, and what follows. */
export interface Restart {
  delay_ms?: number;
  spent?: ModelSpend | null;
  said?: string;
  /** The model that is asked from now on, if it changes. */
  model?: string;
}

/** Code of a restart with another model because the circuit breaker of the first is open. */
export const leftOutCode = "model_circuit_open";

/** Error of a step that the process's end interrupted; `doing` names it: "the model was answering". */
export const processRestarted = (doing: string) => ({
  code: "process_restarted",
  message: `The process ended while ${doing}.`,
});

/** Restarts a step: deltas of its newest start are void, and the attempt number increases. */
export const restartStep = (
  { step_type, step_index, attempt, anchor }: OpenStep,
  reason: { code: string; message: string },
  { delay_ms = 0, spent = null, said = "", model }: Restart = {},
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
  ...(model !== undefined && { model }),
});
