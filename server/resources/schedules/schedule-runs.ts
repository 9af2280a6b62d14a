import type { Database } from "bun:sqlite";
import type { Outcome } from "../../domain/api-types/enums.ts";
import { newId } from "../../domain/ids.ts";
import { endsRun, type JournalEntry } from "../../domain/run-event.ts";
import type { RunStatus } from "../../domain/run-state.ts";
import type { Scope, ScopeColumns } from "../../domain/scope.ts";
import { timestamp } from "../../domain/time.ts";
import { listPage, type Page, scopeCondition } from "../../http/page.ts";
import { type Audit, itself } from "../../storage/db/audit.ts";
import type { Db } from "../../storage/db/open.ts";
import { scheduleRuns } from "../../storage/db/schema.ts";
import { createScopedTable } from "../../storage/db/scoped-table.ts";
import { type Projector, startsRun } from "../../storage/journal/journal.ts";
import { type Failure, type Row, serializeFailure } from "./row.ts";

type FiringRow = typeof scheduleRuns.$inferSelect;

/** A fire time and its outcome. */
type Firing = Pick<FiringRow, "trigger" | "due_at_ms" | "outcome" | "run_id" | "error">;

type Hit = Pick<FiringRow, keyof Scope | "id" | "schedule_id">;

/** Consecutive failures after which a schedule is disabled. */
const failuresAllowed = 5;
// Kept outcomes per schedule: the last 16 hours of one that fires every minute.
const maxRunsStored = 1000;

export type ScheduleRuns = ReturnType<typeof createScheduleRuns>;

/** Outcomes of schedules. Call those that write inside a write. */
export function createScheduleRuns({ db, audit, now }: { db: Db; audit: Audit; now: () => number }) {
  const { sqlite } = db;
  const rows = createScopedTable(db, scheduleRuns);
  const { pruning, lastRun, byRun, ending, success, failing, mentioning, disabling, going, taken, anyGoing } =
    queries(sqlite);
  // Cached per project, because most runs end where no schedule has a run in progress.
  const awaits = db.kept.rows(
    (project_id: string, environment: Scope["environment"]) => anyGoing.get({ project_id, environment }) !== null,
  );
  const firingOf = (scope: Scope, runId: string): Hit | null =>
    awaits.of(scope.project_id, scope.environment) ? byRun.get(runId) : null;

  function add(schedule: Row, { trigger, due_at_ms, outcome, run_id, error }: Firing): void {
    const { project_id, environment, id } = schedule;
    rows.insert(schedule, {
      id: newId("firing", now()),
      schedule_id: id,
      trigger,
      due_at_ms,
      outcome,
      run_id,
      error,
      created_at_ms: now(),
    });
    if (outcome === "started") awaits.drop(project_id, environment);
    pruning.run({ project_id, environment, id, most: maxRunsStored });
    if (run_id !== null) lastRun.run({ project_id, environment, id, run_id });
  }

  function fail({ project_id, environment }: Scope, id: string, error: Failure): void {
    const key = { project_id, environment, id };
    const row = failing.get({ ...key, error: JSON.stringify(error) });
    if (!row?.enabled || row.failure_count < failuresAllowed) return;
    const reason = `${failuresAllowed} failures in a row. Last error: ${error.code}: ${error.message}`;
    disabling.run({ ...key, reason: reason.slice(0, 1000) });
    const by = { project_id, environment, actor: itself };
    audit.note(by, "schedule.disabled", id, { name: row.name, code: error.code });
  }

  function end(found: Hit, outcome: Outcome, error: Failure | null): void {
    const { project_id, environment, id, schedule_id } = found;
    ending.run({ project_id, environment, id, outcome, error: error && JSON.stringify(error) });
    if (outcome === "completed") success.run({ project_id, environment, id: schedule_id });
    if (error) fail(found, schedule_id, error);
  }

  /** Records a run's outcome in the transaction of its last entry. */
  const project: Projector = (run, entries) => {
    const { run_id } = run;
    const last = startsRun(entries) ? null : entries.findLast(({ event }) => endsRun(event));
    const outcome = last && ends[last.event.type];
    const found = outcome && firingOf(run, run_id);
    if (found) end(found, outcome, failureOf(run_id, last));
  };

  return {
    add,
    fail,
    /** Shows a failure that does not count against the schedule. */
    mention: ({ project_id, environment, id }: Row, error: Failure): void =>
      void mentioning.run({ project_id, environment, id, error: JSON.stringify(error) }),
    project,
    /** Records a started run, which may have ended in the entries that created it. */
    started(row: Row, firing: Pick<Firing, "trigger" | "due_at_ms">, run: { id: string; status: RunStatus }): void {
      add(row, { ...firing, outcome: "started", run_id: run.id, error: null });
      const found = byRun.get(run.id);
      if (!found) return;
      const { id: run_id, status } = run;
      if (status === "completed" || status === "cancelled") end(found, status, null);
      if (status === "failed")
        end(found, status, { code: "run_failed", message: "The run failed immediately.", at_ms: now(), run_id });
    },
    /** True if a run of the schedule is in progress. */
    isBusy: ({ project_id, environment, id }: Row): boolean => going.get({ project_id, environment, id }) !== null,
    /** True if this fire time already has an outcome. */
    isTaken: ({ project_id, environment, id }: Row, due_at_ms: number): boolean =>
      taken.get({ project_id, environment, id, due_at_ms }) !== null,
    scheduleOf: (runId: string): ({ id: string } & Scope) | null => {
      const found = byRun.get(runId);
      return found && { project_id: found.project_id, environment: found.environment, id: found.schedule_id };
    },
    list(scope: Row, page: Page) {
      const within = scopeCondition(scope, { schedule_id: scope.id });
      return listPage(db, { table: scheduleRuns, kind: "firing", scope, page, within }, serializeFiring);
    },
  };
}

const ends: Record<string, Outcome> = {
  "run.completed": "completed",
  "run.failed": "failed",
  "run.cancelled": "cancelled",
};

function failureOf(run_id: string, { at, event }: JournalEntry): Failure | null {
  if (event.type !== "run.failed") return null;
  const { code, message } = event.error;
  return { code, message: message.slice(0, 1000), at_ms: at, run_id };
}

function serializeFiring(row: FiringRow) {
  const { id, schedule_id, trigger, due_at_ms, outcome, run_id, error, created_at_ms, project_id, environment } = row;
  return {
    id,
    object: "schedule_run" as const,
    schedule_id,
    trigger,
    due_at: timestamp(due_at_ms),
    outcome,
    run_id,
    error: error && serializeFailure(error),
    metadata: {},
    created_at: timestamp(created_at_ms),
    project_id,
    environment,
  };
}

function queries(sqlite: Database) {
  const key = "project_id = $project_id AND environment = $environment AND id = $id";
  const ofSchedule = "project_id = $project_id AND environment = $environment AND schedule_id = $id";
  type Key = Pick<FiringRow, keyof Scope | "id">;
  return {
    pruning: sqlite.query(
      `DELETE FROM schedule_runs WHERE outcome <> 'started' AND (project_id, environment, id) IN (
         SELECT project_id, environment, id FROM schedule_runs
         WHERE ${ofSchedule} ORDER BY id DESC LIMIT -1 OFFSET $most)`,
    ),
    lastRun: sqlite.query(`UPDATE schedules SET last_run_id = $run_id WHERE ${key}`),
    byRun: sqlite.query<Hit, [string]>(
      "SELECT project_id, environment, id, schedule_id FROM schedule_runs WHERE run_id = ?",
    ),
    ending: sqlite.query(`UPDATE schedule_runs SET outcome = $outcome, error = $error WHERE ${key}`),
    success: sqlite.query(
      `UPDATE schedules SET failure_count = 0, last_error = NULL WHERE ${key} AND last_error IS NOT NULL`,
    ),
    failing: sqlite.query<{ name: string; enabled: 0 | 1; failure_count: number }, Key & { error: string }>(
      `UPDATE schedules SET failure_count = failure_count + 1, last_error = $error WHERE ${key}
       RETURNING name, enabled, failure_count`,
    ),
    mentioning: sqlite.query(`UPDATE schedules SET last_error = $error WHERE ${key}`),
    disabling: sqlite.query(
      `UPDATE schedules SET enabled = 0, next_at_ms = NULL, next_run_ats = '[]', queued_at_ms = NULL,
         disabled_reason = $reason WHERE ${key}`,
    ),
    taken: sqlite.query<unknown, Key & { due_at_ms: number }>(
      `SELECT 1 FROM schedule_runs WHERE ${ofSchedule} AND due_at_ms = $due_at_ms AND trigger <> 'request'`,
    ),
    anyGoing: sqlite.query<unknown, ScopeColumns>(
      `SELECT 1 FROM schedule_runs WHERE project_id = $project_id AND environment = $environment
         AND outcome = 'started' LIMIT 1`,
    ),
    // Checks the run, too: one that was given up for a damaged journal has no final entry.
    going: sqlite.query<unknown, Key>(
      `SELECT 1 FROM schedule_runs f CROSS JOIN runs r ON r.id = f.run_id
       WHERE f.project_id = $project_id AND f.environment = $environment AND f.schedule_id = $id AND f.outcome = 'started'
         AND r.ended_at_ms IS NULL LIMIT 1`,
    ),
  };
}
