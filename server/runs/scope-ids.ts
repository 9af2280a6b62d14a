import type { AgentSnapshot, PinnedStore } from "../core/agent-snapshot.ts";
import type { RunCreated } from "../core/run-event.ts";
import { fault, refuse } from "../http/errors.ts";

/** Whose part of a store a run works with; null where the run does not say for whom it is. */
export function scopeIdFor(
  { scope }: Pick<PinnedStore, "scope">,
  { user_id, session_id }: Pick<RunCreated, "user_id" | "session_id">,
): string | null {
  if (scope === "project") return null;
  return scope === "user" ? user_id : session_id;
}

/** Throws for a run that does not say whose memory is meant, where its agent has a store of each user or session. */
export function requireScopeIds(
  { memory }: Pick<AgentSnapshot, "memory">,
  run: Pick<RunCreated, "user_id" | "session_id">,
): void {
  const lacking = (memory?.stores ?? []).filter((store) => store.scope !== "project" && !scopeIdFor(store, run));
  const faults = (["user", "session"] as const).flatMap((scope) => {
    const store = lacking.find((one) => one.scope === scope);
    const why = `The agent's memory store "${store?.name}" has a part for each ${scope}: say for which one the run is.`;
    return store ? [fault(`${scope}_id`, why, "required")] : [];
  });
  refuse(faults);
}
