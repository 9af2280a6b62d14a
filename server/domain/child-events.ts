import { equalJson } from "./equal.ts";
import type { RequiredCall, RunEvent } from "./run-event.ts";
import { pendingCalls, type RunState } from "./run-state.ts";
import { waitOrGoOn } from "./submit.ts";

/**
 * Returns events for changes in the child runs of a waiting run: a child waits for other calls now, or for none.
 * `waitsFor` returns the current calls of each. Empty if nothing changed.
 */
export function childEvents(state: RunState, waitsFor: (runId: string) => RequiredCall[], at: number): RunEvent[] {
  if (state.status !== "requires_action") return [];
  const events = pendingCalls(state).flatMap(({ id: tool_call_id, child }): RunEvent[] => {
    if (!child) return [];
    const calls = waitsFor(child.run_id);
    if (equalJson(calls, child.waits_for)) return [];
    return [
      calls.length > 0 ? { type: "subagent.waiting", tool_call_id, calls } : { type: "subagent.resumed", tool_call_id },
    ];
  });
  return events.length > 0 ? [...events, waitOrGoOn(state, events, at)] : [];
}
