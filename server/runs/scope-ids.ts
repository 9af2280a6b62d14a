import type { AgentSnapshot, PinnedStore } from "../domain/agent-snapshot.ts";
import type { RunCreated } from "../domain/run-event.ts";
import { fault, throwIfInvalid } from "../http/errors.ts";

/**
 * Returns the user or session id that selects a run's part of a store; null for a project store or if the run has no
 * such id.
 */
export function scopeIdFor(
  { scope }: Pick<PinnedStore, "scope">,
  { user_id, session_id }: Pick<RunCreated, "user_id" | "session_id">,
): string | null {
  if (scope === "project") return null;
  return scope === "user" ? user_id : session_id;
}

/** Throws if a store of the agent is per user or session and the run has no such id. */
export function requireScopeIds(
  { memory }: Pick<AgentSnapshot, "memory">,
  run: Pick<RunCreated, "user_id" | "session_id">,
): void {
  const lacking = (memory?.stores ?? []).filter((store) => store.scope !== "project" && !scopeIdFor(store, run));
  const faults = (["user", "session"] as const).flatMap((scope) => {
    const store = lacking.find((one) => one.scope === scope);
    const message = `The agent's memory store "${store?.name}" has a part for each ${scope}: say for which one the run is.`;
    return store ? [fault(`${scope}_id`, message, "required")] : [];
  });
  throwIfInvalid(faults);
}
