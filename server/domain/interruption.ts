import type { RunEvent } from "./run-event.ts";

/** Code of a model call that a message of the user ended. */
export const interruptedCode = "interrupted";

/** Error of such a call, for the end of its step. */
export const interruption: NonNullable<Extract<RunEvent, { type: "step.completed" }>["error"]> = {
  code: interruptedCode,
  message: "A message of the user ended this model call.",
  retryable: false,
};
