import { nanoUsd } from "../../domain/cost.ts";
import { bucketOf } from "../../domain/histogram-buckets.ts";
import type { ModelSpend, RunEvent } from "../../domain/run-event.ts";
import { timestamp } from "../../domain/time.ts";
import { firstItem } from "../../lib/collections.ts";
import type { Db } from "../../storage/db/open.ts";
import type { Projector } from "../../storage/journal/journal.ts";

/** Counters, named as the table's columns. */
export const counters = [
  "runs_started",
  "runs_completed",
  "runs_failed",
  "runs_cancelled",
  "model_calls",
  "tool_calls",
  "input_tokens",
  "output_tokens",
  "cached_input_tokens",
  "reasoning_tokens",
  "cache_write_5m_tokens",
  "cache_write_1h_tokens",
  "cost_nano_usd",
  "unknown_tokens",
  "unknown_cost",
  "estimated",
] as const;
export type Counts = Record<(typeof counters)[number], number>;

/** Day of a time in UTC: `2026-11-21`. */
export function dayOf(ms: number): string {
  const number = Math.floor(ms / day_ms);
  if (number !== last.number) last = { number, day: timestamp(ms).slice(0, 10) };
  return last.day;
}

const day_ms = 24 * 3_600_000;
let last = { number: Number.NaN, day: "" };

/** Sum that is added to a row of usage. */
interface Sum {
  group: readonly [project_id: string, environment: string, day: string, agent_id: string, model: string];
  counts: Counts;
  /** Number of runs per range of durations. */
  durations: Map<number, number>;
}

export type UsageSums = ReturnType<typeof createUsageSums>;

/** Returns the sum that a write adds to a row. Call inside the write; sums for the same row are merged. */
export function createUsageSums({ sqlite, write }: Db) {
  const add = sqlite.query(
    `INSERT INTO usage_days (project_id, environment, day, agent_id, model, ${counters.join(", ")})
     VALUES (?, ?, ?, ?, ?, ${counters.map(() => "?").join(", ")})
     ON CONFLICT DO UPDATE SET ${counters.map((name) => `${name} = ${name} + excluded.${name}`).join(", ")}`,
  );
  const addDurations = sqlite.query(
    `INSERT INTO usage_durations (project_id, environment, day, agent_id, model, runs_by_ms)
     VALUES (?1, ?2, ?3, ?4, ?5, json_object(?6, ?7))
     ON CONFLICT DO UPDATE SET runs_by_ms = json_set(runs_by_ms, '$.' || ?6, coalesce(runs_by_ms ->> ?6, 0) + ?7)`,
  );
  const sums = new Map<string, Sum>();
  const forget = (): void => sums.clear();

  function finish(): void {
    for (const { group, counts, durations } of sums.values()) {
      add.run(...group, ...counters.map((name) => counts[name]));
      for (const [range, runs] of durations) addDurations.run(...group, String(range), runs);
    }
    forget();
  }
  write.defer({ finish, forget });

  return function sumOf(...group: Sum["group"]): Sum {
    const name = group.join(" ");
    const known = sums.get(name);
    if (known) return known;
    const sum: Sum = { group, counts: noCounts(), durations: new Map() };
    sums.set(name, sum);
    return sum;
  };
}

/**
 * Adds a run's usage to its day, in the transaction of the entries that report it. Entries are inserted once, so
 * recovery counts nothing twice.
 */
export function createUsageProjection(sumOf: UsageSums): Projector {
  return ({ project_id, environment, agent_id, model, worked_ms }, entries) => {
    if (!entries.some(({ event }) => isCounted(event))) return;
    const of = (name: string) => sumOf(project_id, environment, dayOf(firstItem(entries).at), agent_id, name);
    const first = model ?? "";
    const sum = of(first);
    for (const { event } of entries) {
      count(sum.counts, event);
      const spent = modelSpendOf(event);
      if (spent) addSpent(spent.model === undefined ? sum.counts : of(spent.model).counts, spent);
      // A cancelled run's duration says nothing about others.
      if (event.type !== "run.completed" && event.type !== "run.failed") continue;
      const range = bucketOf(worked_ms);
      sum.durations.set(range, (sum.durations.get(range) ?? 0) + 1);
    }
  };
}

const zeroes = Object.fromEntries(counters.map((counter) => [counter, 0])) as Counts;
const noCounts = (): Counts => ({ ...zeroes });

const isCounted = (event: RunEvent): boolean => counterOf(event) !== null || Boolean(modelSpendOf(event));

function count(counts: Counts, event: RunEvent): void {
  const name = counterOf(event);
  if (name !== null) counts[name]++;
}

function counterOf(event: RunEvent): keyof Counts | null {
  switch (event.type) {
    case "run.created":
      return "runs_started";
    case "run.completed":
      return "runs_completed";
    case "run.failed":
      return "runs_failed";
    case "run.cancelled":
      return "runs_cancelled";
    case "tool.completed":
      return event.refused ? null : "tool_calls";
    default:
      return null;
  }
}

/**
 * Model costs of an event. `tool.completed` and `memory.retrieved` are not counted, because child runs and searches
 * count their own.
 */
export function modelSpendOf(event: RunEvent): ModelSpend | null {
  if (event.type === "step.completed") return event.answer;
  const isSpending =
    event.type === "step.restarted" || event.type === "guardrail.decided" || event.type === "context.compacted";
  return isSpending ? event.spent : null;
}

export function addSpent(counts: Counts, { usage, cost_usd, estimated, cost_estimated }: ModelSpend): void {
  counts.model_calls++;
  counts.input_tokens += usage.input_tokens ?? 0;
  counts.output_tokens += usage.output_tokens ?? 0;
  counts.cached_input_tokens += usage.cached_input_tokens ?? 0;
  counts.reasoning_tokens += usage.reasoning_tokens ?? 0;
  counts.cache_write_5m_tokens += usage.cache_write_5m_tokens ?? 0;
  counts.cache_write_1h_tokens += usage.cache_write_1h_tokens ?? 0;
  counts.cost_nano_usd += nanoUsd(cost_usd ?? 0);
  if (usage.input_tokens === null || usage.output_tokens === null) counts.unknown_tokens++;
  if (cost_usd === null) counts.unknown_cost++;
  if (estimated || cost_estimated) counts.estimated++;
}
