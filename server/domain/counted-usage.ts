import type { RunUsage } from "./run-event.ts";
import { isOver, type RunStatus } from "./run-state.ts";

/**
 * Returns the usage of a run, or null until its first model call has ended, because zero would look like "nothing
 * used".
 */
export function countedUsage<U extends Pick<RunUsage, "model_calls" | "total_tokens">>(run: {
  status: RunStatus;
  usage?: U | null;
}): U | null {
  const { status, usage = null } = run;
  return usage && (isOver(status) || usage.model_calls > 0 || usage.total_tokens !== 0) ? usage : null;
}
