import { createContext, useContext } from "react";
import type { TraceStep } from "../../../../server/wire/trace.ts";
import type { Row } from "./rows.ts";

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
