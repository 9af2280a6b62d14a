import type { Row } from "./row.ts";

/** Times at which a step started or ended, in order; milliseconds since the epoch. */
export function momentsOf(rows: readonly Row[]): number[] {
  const times = rows.flatMap(({ kind, start, end }) => (kind === "run" ? [] : end === null ? [start] : [start, end]));
  return [...new Set(times)].sort((a, b) => a - b);
}

/** Start times of steps, in order. */
export const beginningsOf = (rows: readonly Row[]): number[] =>
  [...new Set(rows.filter(({ kind }) => kind === "step").map(({ start }) => start))].sort((a, b) => a - b);

/** Returns the next or previous time; null if there is none. */
export function adjacentTime(times: readonly number[], at: number, by: 1 | -1): number | null {
  return (by === 1 ? times.find((time) => time > at) : times.findLast((time) => time < at)) ?? null;
}

/** Returns the step that started last before a time: the replay's current one. */
export function rowAt(rows: readonly Row[], time: number): Row | undefined {
  let found: Row | undefined;
  for (const row of rows)
    if (row.kind === "step" && row.start <= time && (!found || row.start >= found.start)) found = row;
  return found ?? rows[0];
}

/** Start of a step on the scrubber, coloured by its type. `left` is from 0 to 1. */
interface MarkOfStep {
  type: string;
  left: number;
  right: number;
}

// More could not be distinguished.
const marksMax = 400;

/** Marks of all steps. Steps that start together share one in the colour of the longest. */
export function stepMarksOf(rows: readonly Row[], place: (time: number) => number, end: number): MarkOfStep[] {
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
