import type { Row } from "./row.ts";

/** When anything began or ended, in order; milliseconds since the epoch. */
export function momentsOf(rows: readonly Row[]): number[] {
  const times = rows.flatMap(({ kind, start, end }) => (kind === "run" ? [] : end === null ? [start] : [start, end]));
  return [...new Set(times)].sort((a, b) => a - b);
}

/** When steps began, in order. */
export const beginningsOf = (rows: readonly Row[]): number[] =>
  [...new Set(rows.filter(({ kind }) => kind === "step").map(({ start }) => start))].sort((a, b) => a - b);

/** The next of these times after one, or the previous before it; null where there is none. */
export function beside(times: readonly number[], at: number, by: 1 | -1): number | null {
  return (by === 1 ? times.find((time) => time > at) : times.findLast((time) => time < at)) ?? null;
}

/** The step that began last before a time: what the replay is at. */
export function rowAt(rows: readonly Row[], time: number): Row | undefined {
  let found: Row | undefined;
  for (const row of rows)
    if (row.kind === "step" && row.start <= time && (!found || row.start >= found.start)) found = row;
  return found ?? rows[0];
}

/** A stretch of the scrubber in the colour of a step. From 0 to 1. */
interface MarkOfStep {
  type: string;
  left: number;
  right: number;
}

// More would not be told apart.
const marksMax = 400;

/** The marks of all steps. Those that begin together are one, in the colour of the longest. */
export function marksOf(rows: readonly Row[], place: (time: number) => number, end: number): MarkOfStep[] {
  const marks: MarkOfStep[] = [];
  const least = 1 / marksMax;
  for (const row of rows) {
    if (row.kind !== "step" || row.level !== 2) continue;
    const left = place(row.start);
    const right = Math.max(place(row.end ?? end), left + least);
    const last = marks.at(-1);
    if (last && left - last.left < least) {
      if (right > last.right) Object.assign(last, { type: row.type, right });
    } else if (last?.type === row.type && left <= last.right) last.right = Math.max(last.right, right);
    else marks.push({ type: row.type, left, right: Math.min(1, right) });
  }
  return marks;
}
