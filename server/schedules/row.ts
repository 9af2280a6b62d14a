import type { Budget } from "../core/budget-schema.ts";
import type { RunInput } from "../core/run-input.ts";
import { timestamp } from "../core/time.ts";
import { createReader } from "../db/rows.ts";
import { schedules } from "../db/schema.ts";
import { changeable } from "../wire/schema.ts";
import { nextTimes } from "./cron.ts";
import type { CreateSchedule } from "./schema.ts";

/** A schedule as the table holds it. */
export type Row = typeof schedules.$inferSelect;

/** The same from columns that were read by hand. */
export const rowOf = createReader(schedules) as (raw: object) => Row;

/** Why the last run of a schedule failed, or could not be created. */
export type Failure = NonNullable<Row["last_error"]>;

/** What runs of a schedule are created with, beside its agent and its metadata. */
export interface Definition {
  input: RunInput;
  overrides: NonNullable<CreateSchedule["overrides"]> | null;
  budget: Budget | null;
  user_id: string | null;
  session_id: string | null;
}

export const definitionOf = ({ definition }: Pick<Row, "definition">): Definition => definition as Definition;

// What a client is shown of the times to come.
const shownTimes = 5;

/** When a schedule fires after a time, as its row says it. */
export function planAfter(row: Pick<Row, "cron" | "timezone">, after: number) {
  const times = nextTimes(row, after, shownTimes);
  return { next_at_ms: times[0] ?? null, next_run_ats: times };
}

export const noPlan = { next_at_ms: null, next_run_ats: [] };

const maxPairs = 16;

/** The metadata of a schedule's runs: its own, and its id, by which they are found, unless its owner says otherwise. */
export function runMetadata({ id, metadata }: Pick<Row, "id" | "metadata">): Record<string, string> {
  return Object.keys(metadata).length < maxPairs ? { schedule_id: id, ...metadata } : metadata;
}

/** A schedule as clients see it. */
export function shownSchedule(row: Row) {
  const { input, overrides, budget, user_id, session_id } = definitionOf(row);
  return {
    id: row.id,
    object: "schedule" as const,
    name: row.name,
    agent_id: row.agent_id,
    input,
    cron: row.cron,
    timezone: row.timezone,
    enabled: row.enabled,
    catch_up: row.catch_up,
    if_busy: row.if_busy,
    next_run_ats: row.next_run_ats.map(timestamp),
    last_run_id: row.last_run_id,
    last_error: row.last_error && shownFailure(row.last_error),
    failure_count: row.failure_count,
    disabled_reason: row.disabled_reason,
    overrides,
    budget,
    user_id,
    session_id,
    ...changeable(row),
  };
}

export const shownFailure = ({ code, message, at_ms, run_id }: Failure) => ({
  code,
  message,
  at: timestamp(at_ms),
  run_id,
});
