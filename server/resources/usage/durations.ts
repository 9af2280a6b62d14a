import type { Database, SQLQueryBindings } from "bun:sqlite";
import { bucketMiddle } from "../../domain/histogram-buckets.ts";
import { createYielder } from "../../lib/cooperative-yield.ts";

/** Median and 95th percentile of run durations; null without runs. */
export interface Durations {
  p50: number | null;
  p95: number | null;
}

/** Number of runs per range of durations, by its lower bound. */
type Ranges = Map<number, number>;

/**
 * Reads percentiles from `usage_durations`, per group of a column and in total. Reads counts instead of runs, so the
 * cost does not grow with their number; yields for many agents and days.
 */
export async function readDurations(sqlite: Database, column: string, where: string, values: SQLQueryBindings[]) {
  const maybeYield = createYielder();
  const groups = new Map<string, Ranges>();
  const rows = sqlite
    .query<{ name: string; runs_by_ms: string }, SQLQueryBindings[]>(
      `SELECT ${column} AS name, runs_by_ms FROM usage_durations WHERE ${where}`,
    )
    .all(...values);
  for (const { name, runs_by_ms } of rows) {
    await maybeYield();
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

/** Smallest duration that `percent` of the runs do not exceed. */
function percentile(sorted: readonly [ms: number, runs: number][], percent: number): number | null {
  const total = sorted.reduce((sum, [, runs]) => sum + runs, 0);
  let upTo = 0;
  for (const [ms, runs] of sorted) {
    upTo += runs;
    if (upTo * 100 >= total * percent) return bucketMiddle(ms);
  }
  return null;
}
