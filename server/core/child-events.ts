import { equalJson } from "./equal.ts";
import type { RequiredCall, RunEvent } from "./run-event.ts";
import { pendingCalls, type RunState } from "./run-state.ts";
import { waitOrGoOn } from "./submit.ts";

/**
 * What a run that waits has to note of its child runs: that one waits for something else now, or for nothing any more.
 * `waitsFor` says what each of them waits for at this moment. None while all is as it was noted.
 */
export function childEvents(state: RunState, waitsFor: (runId: string) => RequiredCall[], at: number): RunEvent[] {
  if (state.status !== "requires_action") return [];
  const noted = pendingCalls(state).flatMap(({ id: tool_call_id, child }): RunEvent[] => {
    if (!child) return [];
    const calls = waitsFor(child.run_id);
    if (equalJson(calls, child.waits_for)) return [];
    return [
      calls.length > 0 ? { type: "subagent.waiting", tool_call_id, calls } : { type: "subagent.resumed", tool_call_id },
    ];
  });
  return noted.length > 0 ? [...noted, waitOrGoOn(state, noted, at)] : [];
}
