import { createContext, useContext } from "react";
import type { TraceStep } from "../../../../server/wire/trace.ts";
import type { Row } from "./row.ts";

/** Where the replay stands, in milliseconds since the epoch; null: nothing is replayed. */
export const ReplayContext = createContext<number | null>(null);

/** Where the replay stands, for whatever grows with it. */
export const useReplay = (): number | null => useContext(ReplayContext);

/** What of a row says how far a replay has come with it. */
export type ShownRow = Pick<Row, "start" | "end" | "step" | "runId" | "before">;

/** The row whose detail is shown. */
export const RowContext = createContext<ShownRow | null>(null);

/** That row, for what of its detail grows with the replay. */
export const useShownRow = (): ShownRow | null => useContext(RowContext);

/** A step of a run as its row says it, for what is shown of it elsewhere. */
export function shownStep(
  runId: string,
  steps: readonly TraceStep[],
  step: TraceStep,
  runEnd: string | null,
): ShownRow {
  const end = step.ended_at ?? runEnd;
  return {
    start: Date.parse(step.started_at),
    end: end === null ? null : Date.parse(end),
    step,
    runId,
    before: steps[steps.indexOf(step) - 1]?.id ?? null,
  };
}

/** How far a replay has come with something: it is still to come, it goes on, or all of it is there. */
type Reached = "nothing" | "part" | "all";

/** How far a replay that stands at a time has come. Without one, and of what goes on now, all is there that there is. */
export function reached(replay: number | null, { start, end }: { start: number; end: number | null }): Reached {
  if (replay === null || end === null || replay >= end) return "all";
  return replay < start ? "nothing" : "part";
}

/** How far the replay has come with what is shown. */
export function useReached(): Reached {
  const replay = useReplay();
  const row = useShownRow();
  return row ? reached(replay, row) : "all";
}
