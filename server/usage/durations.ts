import type { Database, SQLQueryBindings } from "bun:sqlite";
import { middleOf } from "../core/duration-range.ts";
import { inSlices } from "../lib/slices.ts";

/** How long runs worked: half of them, and 95 of a hundred, not longer than this. Null of no run. */
export interface Durations {
  p50: number | null;
  p95: number | null;
}

/** How many runs there are of each range of durations, by the shortest of it. */
type Ranges = Map<number, number>;

/**
 * Reads the durations of a selection of `usage_durations`: of the groups by one of its columns, and of all. What is read
 * are counts and not runs, so it takes no longer for more of them; where there are many agents and days, in slices.
 */
export async function readDurations(sqlite: Database, column: string, where: string, values: SQLQueryBindings[]) {
  const rest = inSlices();
  const groups = new Map<string, Ranges>();
  const rows = sqlite
    .query<{ name: string; runs_by_ms: string }, SQLQueryBindings[]>(
      `SELECT ${column} AS name, runs_by_ms FROM usage_durations WHERE ${where}`,
    )
    .all(...values);
  for (const { name, runs_by_ms } of rows) {
    await rest();
    const ranges = groups.get(name) ?? new Map();
    groups.set(name, ranges);
    const counted: Record<string, number> = JSON.parse(runs_by_ms);
    for (const ms in counted) count(ranges, Number(ms), counted[ms]!);
  }
  const all: Ranges = new Map();
  for (const ranges of groups.values()) for (const [ms, runs] of ranges) count(all, ms, runs);
  return { of: (name: string): Durations => durationsOf(groups.get(name)), all: durationsOf(all) };
}

const count = (ranges: Ranges, ms: number, runs: number) => ranges.set(ms, (ranges.get(ms) ?? 0) + runs);

function durationsOf(ranges: Ranges = new Map()): Durations {
  const sorted = [...ranges].sort(([a], [b]) => a - b);
  return { p50: percentile(sorted, 50), p95: percentile(sorted, 95) };
}

/** The shortest duration that so many of a hundred runs do not exceed. */
function percentile(sorted: readonly [ms: number, runs: number][], percent: number): number | null {
  const total = sorted.reduce((sum, [, runs]) => sum + runs, 0);
  let upTo = 0;
  for (const [ms, runs] of sorted) {
    upTo += runs;
    if (upTo * 100 >= total * percent) return middleOf(ms);
  }
  return null;
}
