import type { Row } from "./rows.ts";
import { gaps, type Span, union } from "./spans.ts";

/** What a run's own steps worked, and what they waited; what goes on ends at `now`. */
interface Work {
  work: Span[];
  waits: Span[];
}

/** Of rows that are over: they are counted once. */
export function endedWork(rows: readonly Row[]): Work {
  return workOf(
    rows.filter((row) => isOwnStep(row) && row.end !== null),
    0,
  );
}

/** With those that go on. */
export function workUntil(ended: Work, rows: readonly Row[], now: number): Work {
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
