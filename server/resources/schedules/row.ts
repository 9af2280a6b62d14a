import { changeable } from "../../domain/api-types/schema.ts";
import type { Budget } from "../../domain/budget-schema.ts";
import type { RunInput } from "../../domain/run-input.ts";
import { timestamp } from "../../domain/time.ts";
import type { VariableValues } from "../../domain/variable.ts";
import { schedules } from "../../storage/db/schema.ts";
import { createReader } from "../../storage/db/scoped-table.ts";
import { nextTimes } from "./cron.ts";
import type { CreateSchedule } from "./schema.ts";

/** A schedule row. */
export type Row = typeof schedules.$inferSelect;

/** Parses columns of a handwritten query. */
export const rowOf = createReader(schedules) as (raw: object) => Row;

/** Error of a schedule's last run, or of its creation. */
export type Failure = NonNullable<Row["last_error"]>;

/** Parameters of a schedule's runs, beside agent and metadata. */
export interface Definition {
  input: RunInput;
  overrides: NonNullable<CreateSchedule["overrides"]> | null;
  budget: Budget | null;
  /** Absent in schedules of older versions. */
  variables?: VariableValues | null;
  user_id: string | null;
  session_id: string | null;
  /** The agent's version, or the label that chooses it. Absent in schedules of earlier versions. */
  version?: number | null;
  label?: string | null;
}

export const definitionOf = ({ definition }: Pick<Row, "definition">): Definition => definition as Definition;

// Number of upcoming times that clients see.
const plannedTimesCount = 5;

/** Plans the fire times of a schedule after a time. */
export function planAfter(row: Pick<Row, "cron" | "timezone">, after: number) {
  const times = nextTimes(row, after, plannedTimesCount);
  return { next_at_ms: times[0] ?? null, next_run_ats: times };
}

export const noPlan = { next_at_ms: null, next_run_ats: [] };

const maxPairs = 16;

/** Metadata of a schedule's runs: its own plus its id, for lookup, unless overridden or full. */
export function runMetadata({ id, metadata }: Pick<Row, "id" | "metadata">): Record<string, string> {
  return Object.keys(metadata).length < maxPairs ? { schedule_id: id, ...metadata } : metadata;
}

/** Serializes a schedule for clients. */
export function serializeSchedule(row: Row) {
  const {
    input,
    overrides,
    budget,
    variables = null,
    user_id,
    session_id,
    version = null,
    label = null,
  } = definitionOf(row);
  return {
    id: row.id,
    object: "schedule" as const,
    name: row.name,
    agent_id: row.agent_id,
    version,
    label,
    input,
    cron: row.cron,
    timezone: row.timezone,
    enabled: row.enabled,
    catch_up: row.catch_up,
    if_busy: row.if_busy,
    next_run_ats: row.next_run_ats.map(timestamp),
    last_run_id: row.last_run_id,
    last_error: row.last_error && serializeFailure(row.last_error),
    failure_count: row.failure_count,
    disabled_reason: row.disabled_reason,
    overrides,
    budget,
    variables,
    user_id,
    session_id,
    ...changeable(row),
  };
}

export const serializeFailure = ({ code, message, at_ms, run_id }: Failure) => ({
  code,
  message,
  at: timestamp(at_ms),
  run_id,
});
