import type { Budget } from "../core/agent-snapshot.ts";
import type { RunInput } from "../core/run-input.ts";
import type { Scope } from "../core/scope.ts";
import { timestamp } from "../core/time.ts";
import type { busyPolicies, catchUps } from "../wire/names.ts";
import { nextTimes } from "./cron.ts";
import type { CreateSchedule } from "./schema.ts";

/** Why the last run of a schedule failed, or could not be created. */
export interface Failure {
  code: string;
  message: string;
  at_ms: number;
  run_id: string | null;
}

/** A schedule as the table holds it. */
export interface Row extends Scope {
  id: string;
  name: string;
  agent_id: string;
  definition: string;
  cron: string;
  timezone: string;
  enabled: 0 | 1;
  catch_up: (typeof catchUps)[number];
  if_busy: (typeof busyPolicies)[number];
  next_at_ms: number | null;
  next_run_ats: string;
  queued_at_ms: number | null;
  failure_count: number;
  disabled_reason: string | null;
  last_error: string | null;
  last_run_id: string | null;
  metadata: string;
  created_at_ms: number;
  updated_at_ms: number;
}

/** What runs of a schedule are created with, beside its agent and its metadata. */
export interface Definition {
  input: RunInput;
  overrides: NonNullable<CreateSchedule["overrides"]> | null;
  budget: Budget | null;
  user_id: string | null;
  session_id: string | null;
}

export const definitionOf = ({ definition }: Pick<Row, "definition">): Definition => JSON.parse(definition);

// What a client is shown of the times to come.
const shownTimes = 5;

/** When a schedule fires after a time, as its row says it. */
export function planAfter(row: Pick<Row, "cron" | "timezone">, after: number) {
  const times = nextTimes(row, after, shownTimes);
  return { next_at_ms: times[0] ?? null, next_run_ats: JSON.stringify(times) };
}

export const noPlan = { next_at_ms: null, next_run_ats: "[]" };

const maxPairs = 16;

/** The metadata of a schedule's runs: its own, and its id, by which they are found, unless its owner says otherwise. */
export function runMetadata({ id, metadata }: Pick<Row, "id" | "metadata">): Record<string, string> {
  const own = JSON.parse(metadata) as Record<string, string>;
  return Object.keys(own).length < maxPairs ? { schedule_id: id, ...own } : own;
}

/** A schedule as clients see it. */
export function shownSchedule(row: Row) {
  const { input, overrides, budget, user_id, session_id } = definitionOf(row);
  const error = row.last_error === null ? null : (JSON.parse(row.last_error) as Failure);
  return {
    id: row.id,
    object: "schedule" as const,
    name: row.name,
    agent_id: row.agent_id,
    input,
    cron: row.cron,
    timezone: row.timezone,
    enabled: row.enabled === 1,
    catch_up: row.catch_up,
    if_busy: row.if_busy,
    next_run_ats: (JSON.parse(row.next_run_ats) as number[]).map(timestamp),
    last_run_id: row.last_run_id,
    last_error: error && shownFailure(error),
    failure_count: row.failure_count,
    disabled_reason: row.disabled_reason,
    overrides,
    budget,
    user_id,
    session_id,
    metadata: JSON.parse(row.metadata) as Record<string, string>,
    created_at: timestamp(row.created_at_ms),
    updated_at: timestamp(row.updated_at_ms),
    project_id: row.project_id,
    environment: row.environment,
  };
}

export const shownFailure = ({ code, message, at_ms, run_id }: Failure) => ({
  code,
  message,
  at: timestamp(at_ms),
  run_id,
});
