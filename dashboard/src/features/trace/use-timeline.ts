import { useEffect, useMemo, useState } from "react";
import type { LoadedTrace } from "../../entities/run/trace-api.ts";
import type { Row } from "./row.ts";
import { createTimeline, gaps, overlap, type Span, type Timeline, union } from "./timeline.ts";
import type { Spent } from "./trace-head.tsx";

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

/** What a run's own steps worked, and what they waited; what goes on ends at `now`. */
interface Work {
  work: Span[];
  waits: Span[];
}

/** Of rows that are over: they are counted once. */
function endedWork(rows: readonly Row[]): Work {
  return workOf(
    rows.filter((row) => isOwnStep(row) && row.end !== null),
    0,
  );
}

/** With those that go on. */
function workUntil(ended: Work, rows: readonly Row[], now: number): Work {
  const open = workOf(
    rows.filter((row) => isOwnStep(row) && row.end === null),
    now,
  );
  return { work: [...ended.work, ...open.work], waits: [...ended.waits, ...open.waits] };
}

function workOf(rows: readonly Row[], now: number): Work {
  const all = rows.map((row) => {
    const end = row.end ?? now;
    const waits = row.waits.map(({ from, to }) => ({ from, to: Math.min(to, end) }));
    return { work: gaps({ from: row.start, to: end }, waits), waits };
  });
  return { work: union(all.flatMap(({ work }) => work)), waits: union(all.flatMap(({ waits }) => waits)) };
}

/** The steps of the runs below are within the call that they answer. */
const isOwnStep = ({ kind, level }: Row): boolean => kind === "step" && level === 2;

const smooth_ms = 100;
const calm_ms = 1000;

/**
 * The time, for bars that grow at the clock's pace; it stands still when nothing does. Never before `floor`, the newest
 * time that the server told: this machine's clock may be behind.
 */
function useClock(pace: "smooth" | "calm" | "still", floor: number): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (pace === "still") return;
    const calm = pace === "calm" || matchMedia("(prefers-reduced-motion: reduce)").matches;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), calm ? calm_ms : smooth_ms);
    return () => clearInterval(timer);
  }, [pace]);
  return Math.max(now, floor);
}
