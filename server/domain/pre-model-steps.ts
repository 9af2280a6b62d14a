import type { AgentSnapshot } from "./agent-snapshot.ts";
import type { Preparation, RunCreated } from "./run-event.ts";

/** Returns the steps before the first model call of a run, in order. */
export function preModelSteps(
  { memory }: Pick<AgentSnapshot, "memory">,
  { thread_id, file_ids }: Pick<RunCreated, "thread_id" | "file_ids">,
): { prepare?: Preparation[] } {
  const prepare: Preparation[] = [
    ...(thread_id !== null && memory?.history.mode === "thread" ? (["history"] as const) : []),
    ...(file_ids.length > 0 ? (["documents"] as const) : []),
    ...(memory?.stores.some(({ auto_retrieve }) => auto_retrieve) ? (["retrieval"] as const) : []),
  ];
  return prepare.length > 0 ? { prepare } : {};
}
