import { createContext, useContext } from "react";
import type { TraceStep } from "../../../../server/domain/api-types/trace.ts";
import type { Row } from "./row.ts";

/** Replay position in milliseconds since the epoch; null without a replay. */
export const ReplayContext = createContext<number | null>(null);

/** Returns the replay position. */
export const useReplay = (): number | null => useContext(ReplayContext);

/** Fields of a row that determine the replay's progress in it. */
export type ShownRow = Pick<Row, "start" | "end" | "step" | "runId" | "before">;

/** The row whose details are shown. */
export const RowContext = createContext<ShownRow | null>(null);

/** Returns that row. */
export const useShownRow = (): ShownRow | null => useContext(RowContext);

/** Returns a step in the form of a row, for use outside of the tree. */
export function shownStep(
  runId: string,
  steps: readonly TraceStep[],
  step: TraceStep,
  runEnd: string | null,
): ShownRow {
  const end = step.completed_at ?? runEnd;
  return {
    start: Date.parse(step.started_at),
    end: end === null ? null : Date.parse(end),
    step,
    runId,
    before: steps[steps.indexOf(step) - 1]?.id ?? null,
  };
}

/** Progress of a replay within a row: not started, in progress, or complete. */
type ReplayProgress = "nothing" | "part" | "all";

/** Progress of a replay at a time. Without a replay, and for a running row, everything is shown. */
export function replayProgress(
  replay: number | null,
  { start, end }: { start: number; end: number | null },
): ReplayProgress {
  if (replay === null || end === null || replay >= end) return "all";
  return replay < start ? "nothing" : "part";
}

/** Progress of the replay within the shown row. */
export function useReplayProgress(): ReplayProgress {
  const replay = useReplay();
  const row = useShownRow();
  return row ? replayProgress(replay, row) : "all";
}
