import type { RunUsage } from "./run-event.ts";
import { isOver, type RunStatus } from "./run-state.ts";

/**
 * Returns what a run has used, as far as it is counted. Returns null until its first model call has ended, because zero
 * would be read as nothing.
 */
export function countedUsage<U extends Pick<RunUsage, "model_calls" | "total_tokens">>(run: {
  status: RunStatus;
  usage?: U | null;
}): U | null {
  const { status, usage = null } = run;
  return usage && (isOver(status) || usage.model_calls > 0 || usage.total_tokens !== 0) ? usage : null;
}
