import type { AnyRun as Run } from "../../../../server/domain/api-types/run.ts";
import { isOver } from "../../../../server/domain/run-state.ts";
import { type Timing, timingAt } from "../../../../server/domain/timing.ts";
import { useNow } from "../../hooks/use-now.ts";
import { formatDuration, formatElapsed } from "../../lib/format.ts";

/** Labels of the figures. */
export const timingNames: Record<keyof Timing, string> = {
  worked_ms: "Worked",
  waited_ms: "Waited",
  recorded_ms: "Recorded",
};
export const timingFigures = ["worked_ms", "waited_ms", "recorded_ms"] as const;

/** Formats a figure, in whole seconds while it is running. */
export function formatFigure(figure: keyof Timing, timing: Timing, status: Run["status"]): string {
  const grows =
    (figure === "worked_ms" && status === "in_progress") ||
    (figure === "waited_ms" && (status === "requires_action" || status === "paused"));
  return (grows ? formatElapsed : formatDuration)(timing[figure] ?? 0);
}

/** Timing of a run until now. Null if it has not started or its timing is unknown. */
export function useTiming(run: Pick<Run, "status" | "started_at" | "timing">): Timing | null {
  const now = useNow(!isOver(run.status) && run.started_at !== null);
  return run.started_at === null ? null : timingAt(run, now);
}
