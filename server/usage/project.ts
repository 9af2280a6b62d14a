import type { Database } from "bun:sqlite";
import { nanoUsd } from "../core/cost.ts";
import type { JournalEntry, ModelSpend, RunEvent } from "../core/run-event.ts";
import { timestamp } from "../core/time.ts";
import type { Projector } from "../journal/journal.ts";
import { rangeOf } from "./duration-range.ts";

/** What is counted, by the columns of the table. */
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
  "cost_nano_usd",
  "unknown_tokens",
  "unknown_cost",
  "estimated",
] as const;
export type Counts = Record<(typeof counters)[number], number>;

/** The day of a time, in UTC: `2026-11-21`. */
export const dayOf = (ms: number): string => timestamp(ms).slice(0, 10);

/**
 * Adds what runs use to the usage of the day, in the transaction of the journal's entries that say so: each entry is
 * inserted once, so it is counted once, whatever is recovered or read again.
 */
export function createUsageProjector(sqlite: Database): Projector {
  const add = sqlite.query(
    `INSERT INTO usage_days (project_id, environment, day, agent_id, model, ${counters.join(", ")})
     VALUES (?, ?, ?, ?, ?, ${counters.map(() => "?").join(", ")})
     ON CONFLICT DO UPDATE SET ${counters.map((name) => `${name} = ${name} + excluded.${name}`).join(", ")}`,
  );
  const addDuration = sqlite.query(
    `INSERT INTO usage_durations (project_id, environment, day, agent_id, model, runs_by_ms)
     VALUES (?1, ?2, ?3, ?4, ?5, json_object(?6, 1))
     ON CONFLICT DO UPDATE SET runs_by_ms = json_set(runs_by_ms, '$.' || ?6, coalesce(runs_by_ms ->> ?6, 0) + 1)`,
  );
  return ({ project_id, environment, agent_id, model, worked_ms }, entries) => {
    const counts = countsOf(entries);
    if (!counts) return;
    const group = [project_id, environment, dayOf(entries[0]!.at), agent_id, model ?? ""] as const;
    add.run(...group, ...counters.map((name) => counts[name]));
    // How long a run took that somebody broke off says nothing about the next one.
    if (counts.runs_completed + counts.runs_failed > 0) addDuration.run(...group, String(rangeOf(worked_ms)));
  };
}

/** What these entries add; null for nothing, as most say. */
function countsOf(entries: readonly JournalEntry[]): Counts | null {
  let counts: Counts | null = null;
  for (const { event } of entries) {
    const name = counterOf(event);
    const spent = spentBy(event);
    if (name === null && !spent) continue;
    counts ??= Object.fromEntries(counters.map((counter) => [counter, 0])) as Counts;
    if (name !== null) counts[name]++;
    if (spent) addSpent(counts, spent);
  }
  return counts;
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

/** What a model was paid for. A child run counts what it used itself: its parent's `tool.completed` only repeats it. */
function spentBy(event: RunEvent): ModelSpend | null {
  if (event.type === "step.completed") return event.answer;
  const isSpending =
    event.type === "step.restarted" || event.type === "guardrail.decided" || event.type === "context.compacted";
  return isSpending ? event.spent : null;
}

function addSpent(counts: Counts, { usage, cost_usd, estimated }: ModelSpend): void {
  counts.model_calls++;
  counts.input_tokens += usage.input_tokens ?? 0;
  counts.output_tokens += usage.output_tokens ?? 0;
  counts.cached_input_tokens += usage.cached_input_tokens ?? 0;
  counts.reasoning_tokens += usage.reasoning_tokens ?? 0;
  counts.cost_nano_usd += nanoUsd(cost_usd ?? 0);
  if (usage.input_tokens === null || usage.output_tokens === null) counts.unknown_tokens++;
  if (cost_usd === null) counts.unknown_cost++;
  if (estimated) counts.estimated++;
}
