import { isOver } from "../../../../server/core/run-state.ts";
import { type Timing, timingAt } from "../../../../server/core/timing.ts";
import type { AnyRun as Run } from "../../../../server/wire/run.ts";
import { formatDuration, formatElapsed } from "../../lib/format.ts";
import { useNow } from "../../lib/use-now.ts";

/** What each figure is called wherever it stands. */
export const timingNames: Record<keyof Timing, string> = {
  worked_ms: "Worked",
  waited_ms: "Waited",
  recorded_ms: "Recorded",
};
export const timingFigures = ["worked_ms", "waited_ms", "recorded_ms"] as const;

/** A figure in words; in whole seconds while it grows. */
export function formatFigure(figure: keyof Timing, timing: Timing, status: Run["status"]): string {
  const grows =
    (figure === "worked_ms" && status === "in_progress") || (figure === "waited_ms" && status === "requires_action");
  return (grows ? formatElapsed : formatDuration)(timing[figure] ?? 0);
}

/** Where a run's time went until now. Null for one that has not begun, or of which it is not known. */
export function useTiming(run: Pick<Run, "status" | "started_at" | "timing">): Timing | null {
  const now = useNow(!isOver(run.status) && run.started_at !== null);
  return run.started_at === null ? null : timingAt(run, now);
}
