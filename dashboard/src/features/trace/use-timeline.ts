import { useMemo } from "react";
import type { LoadedTrace } from "../../entities/run/trace-types.ts";
import type { Row } from "./rows.ts";
import { overlap } from "./spans.ts";
import { createTimeline, type Timeline } from "./timeline.ts";
import type { Spent } from "./trace-head.tsx";
import { useClock } from "./use-clock.ts";
import { endedWork, workUntil } from "./work-of.ts";

/** The time axis of a run, which grows while the run goes on, and what of it was work. */
export function useTimeline(
  { trace, hasMore }: LoadedTrace,
  rows: readonly Row[],
  folded: boolean,
): { timeline: Timeline; spent: Spent } {
  const newest = Date.parse(trace.started_at) + trace.duration_ms;
  const pace = trace.ended_at !== null ? "still" : trace.status === "in_progress" ? "smooth" : "calm";
  const now = useClock(pace, newest);
  const ended = useMemo(() => endedWork(rows), [rows]);
  return useMemo(() => {
    const begin = rows[0]?.start ?? Date.parse(trace.started_at);
    const end = trace.ended_at === null ? now : Date.parse(trace.ended_at);
    const { work, waits } = workUntil(ended, rows, end);
    const timeline = createTimeline({ from: begin, to: end }, work, folded);
    const known = !hasMore && trace.status !== "queued";
    const waited_ms = known ? overlap(timeline.idle, waits) : null;
    return { timeline, spent: { waited_ms, worked_ms: waited_ms === null ? null : end - begin - waited_ms } };
  }, [ended, rows, trace, hasMore, now, folded]);
}
