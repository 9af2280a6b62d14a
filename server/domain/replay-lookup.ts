import { equalJson } from "./equal.ts";
import type { RecordedCall, ToolError, ToolRequest } from "./run-event.ts";
import type { RunState } from "./run-state.ts";

/** State of a fork, with the recorded calls after its start. */
type Forked = Pick<RunState, "run" | "calls">;

/** Position of a call that is not on record and is not run either. */
export const missingSeq = -1;

/** Error of a call that is not on record, in a fork that makes no calls. */
const notRecorded: ToolError = {
  code: "not_recorded",
  message: "The record of the run that this one was forked from has no result of this call, and no other is to be had.",
};

/**
 * Returns the position of the recorded result for a call: the first unused one with the same tool and arguments, so
 * that the nth call gets the nth result. Null if the call is to be run, else {@link missingSeq}.
 */
export function replayPosition(
  { run, calls }: Forked,
  request: Pick<ToolRequest, "tool" | "arguments">,
  usedCalls: ReadonlySet<number> = usedPositions(calls),
): number | null {
  const recorded = run.recorded;
  if (!recorded) return null;
  const place = recorded.calls.findIndex(
    (call, index) =>
      call.tool === request.tool && !usedCalls.has(index) && equalJson(call.arguments, request.arguments),
  );
  if (place !== -1) return place;
  return recorded.mode === "recorded_then_live" ? null : missingSeq;
}

/** Returns the positions of the results in use. */
export const usedPositions = (calls: RunState["calls"]): Set<number> =>
  new Set(calls.flatMap(({ recorded }) => recorded ?? []));

/** Returns the recorded result of a call, or null if it is to be run. */
export function replayResult(
  { run }: Forked,
  { recorded }: Pick<ToolRequest, "recorded">,
): Pick<RecordedCall, "status" | "output" | "error" | "images" | "workspace"> | null {
  if (recorded === undefined) return null;
  return run.recorded?.calls[recorded] ?? { status: "failed", output: null, error: notRecorded };
}
