import { isOver } from "../../../../server/core/run-state.ts";
import { type Timing, timingAt } from "../../../../server/core/timing.ts";
import type { AnyRun as Run } from "../../../../server/wire/run.ts";
import { useNow } from "../../lib/use-now.ts";

/** What each figure is called wherever it stands. */
export const timingNames: Record<keyof Timing, string> = {
  worked_ms: "Worked",
  waited_ms: "Waited",
  recorded_ms: "Recorded",
};
export const timingFigures = ["worked_ms", "waited_ms", "recorded_ms"] as const;

/** Where a run's time went until now. Null for one that has not begun, or of which it is not known. */
export function useTiming(run: Pick<Run, "status" | "started_at" | "timing">): Timing | null {
  const now = useNow(!isOver(run.status) && run.started_at !== null);
  return run.started_at === null ? null : timingAt(run, now);
}
