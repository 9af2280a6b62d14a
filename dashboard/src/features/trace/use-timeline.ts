import { useEffect, useMemo, useState } from "react";
import type { LoadedTrace } from "../../entities/run/trace-api.ts";
import type { Row } from "./row.ts";
import { createTimeline, gaps, type Span, type Timeline, union } from "./timeline.ts";

/** Time axis of a run, which grows while it is running. */
export function useTimeline({ trace }: LoadedTrace, rows: readonly Row[], folded: boolean): Timeline {
  const newest = Date.parse(trace.started_at) + trace.duration_ms;
  const pace = trace.completed_at !== null ? "still" : trace.status === "in_progress" ? "smooth" : "calm";
  const now = useClock(pace, newest);
  const ended = useMemo(() => endedWork(rows), [rows]);
  return useMemo(() => {
    const begin = rows[0]?.start ?? Date.parse(trace.started_at);
    const end = trace.completed_at === null ? now : Date.parse(trace.completed_at);
    return createTimeline({ from: begin, to: end }, workUntil(ended, rows, end), folded);
  }, [ended, rows, trace, now, folded]);
}

/** Working spans of the run's own ended steps, computed once. */
function endedWork(rows: readonly Row[]): Span[] {
  return workOf(
    rows.filter((row) => isOwnStep(row) && row.end !== null),
    0,
  );
}

/** Adds the running steps, ending at `now`. */
function workUntil(ended: readonly Span[], rows: readonly Row[], now: number): Span[] {
  const open = workOf(
    rows.filter((row) => isOwnStep(row) && row.end === null),
    now,
  );
  return [...ended, ...open];
}

function workOf(rows: readonly Row[], now: number): Span[] {
  const all = rows.flatMap((row) => {
    const end = row.end ?? now;
    const waits = row.waits.map(({ from, to }) => ({ from, to: Math.min(to, end) }));
    return gaps({ from: row.start, to: end }, waits);
  });
  return union(all);
}

/** A subagent's steps are covered by their call. */
const isOwnStep = ({ kind, level }: Row): boolean => kind === "step" && level === 2;

const smooth_ms = 100;
const calm_ms = 1000;

/**
 * Clock for growing bars; it stops when nothing grows. Never before `floor`, the server's newest time, because this
 * machine's clock may be behind.
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
