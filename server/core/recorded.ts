import { equalJson } from "./equal.ts";
import type { RecordedCall, ToolError, ToolRequest } from "./run-event.ts";
import type { RunState } from "./run-state.ts";

/** What a fork has of the calls that its record goes on with. */
type Forked = Pick<RunState, "run" | "calls">;

/** The place of a call that is not on record, and is not run either. */
export const notOnRecord = -1;

/** Why a call is not run by a fork that makes none. */
const notRecorded: ToolError = {
  code: "not_recorded",
  message: "The record of the run that this one was forked from has no result of this call, and no other is to be had.",
};

/**
 * The place of the result on record that answers a call: the first of the same tool and arguments that no call has yet,
 * so that the nth call takes the nth result. Null for a call that is to be run, else {@link notOnRecord}.
 */
export function recordedPlace(
  { run, calls }: Forked,
  asked: Pick<ToolRequest, "tool" | "arguments">,
  taken: ReadonlySet<number> = takenPlaces(calls),
): number | null {
  const recorded = run!.recorded;
  if (!recorded) return null;
  const place = recorded.calls.findIndex(
    (call, index) => call.tool === asked.tool && !taken.has(index) && equalJson(call.arguments, asked.arguments),
  );
  if (place !== -1) return place;
  return recorded.mode === "recorded_then_live" ? null : notOnRecord;
}

/** The results that calls have already. */
export const takenPlaces = (calls: RunState["calls"]): Set<number> =>
  new Set(calls.flatMap(({ recorded }) => recorded ?? []));

/** What the call came to on record, as its request says; null for one that is to be run. */
export function recordedResult(
  { run }: Forked,
  { recorded }: Pick<ToolRequest, "recorded">,
): Pick<RecordedCall, "status" | "output" | "error"> | null {
  if (recorded === undefined) return null;
  return run!.recorded?.calls[recorded] ?? { status: "failed", output: null, error: notRecorded };
}
