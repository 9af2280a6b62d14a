import { runErrors } from "./errors.ts";
import type { RunError } from "./run-event.ts";
import type { RunState } from "./run-state.ts";

/** Creates an error of a run at its current step. */
export const runError = (
  code: RunError["code"],
  message: string,
  { steps }: Pick<RunState, "steps">,
  retryable = false,
): RunError => ({ type: "run_error", code, message, step_index: steps > 0 ? steps - 1 : null, retryable });

/** Returns the error of a cancelled run, for clients that know only `run.failed`. */
export const cancelError = (reason: string | null): RunError => ({
  type: "run_error",
  code: "run_cancelled",
  message: reason ? `The run was cancelled: ${reason}` : runErrors.run_cancelled,
  step_index: null,
  retryable: false,
});
