import type { Database } from "bun:sqlite";
import type { Scope } from "../../domain/scope.ts";
import { onlyRow } from "../../storage/db/only-row.ts";
import type { Journal } from "../../storage/journal/journal.ts";
import { type RunRow, runColumns } from "../run-row.ts";
import type { Pace } from "./queue-wait-estimate.ts";

// An earlier run of the same thread. A run that is not queued has begun, whatever its id.
const aheadInThread = `
  SELECT 1 FROM runs ahead WHERE ahead.project_id = runs.project_id AND ahead.environment = runs.environment
    AND ahead.thread_id = runs.thread_id AND ahead.ended_at_ms IS NULL AND ahead.id <> runs.id
    AND (ahead.status <> 'queued' OR ahead.id < runs.id)`;

const afterAllRuns = "run_~";

// Number of last runs from which the pace is estimated.
const paceOf = 20;

/** Queries for runs that take slots and runs that wait, in the order in which they begin. */
export function createQueueStore(sqlite: Database, journal: Journal) {
  const countActive = sqlite.query<{ n: number }, [string, string]>(
    `SELECT count(*) AS n FROM runs
     WHERE project_id = ? AND environment = ? AND status = 'in_progress' AND parent_run_id IS NULL`,
  );
  const selectWorking = sqlite.query<Pace["running"][number], [at: number, at: number, string, string]>(
    `SELECT worked_ms + max(0, ? - status_since_ms) AS worked_ms, max(0, coalesce(expires_at_ms - ?, 0)) AS left_ms
     FROM runs WHERE project_id = ? AND environment = ? AND status = 'in_progress' AND parent_run_id IS NULL`,
  );
  const selectRecent = sqlite.query<{ worked_ms: number }, [string, string]>(
    `SELECT worked_ms FROM runs WHERE project_id = ? AND environment = ? AND status = 'completed'
       AND parent_run_id IS NULL ORDER BY id DESC LIMIT ${paceOf}`,
  );
  const countQueued = sqlite.query<{ n: number }, [string, string]>(
    "SELECT count(*) AS n FROM runs WHERE project_id = ? AND environment = ? AND status = 'queued'",
  );
  const countBefore = sqlite.query<{ n: number }, [string, string, string]>(
    "SELECT count(*) AS n FROM runs WHERE project_id = ? AND environment = ? AND status = 'queued' AND id < ?",
  );
  const selectQueued = sqlite.query<{ id: string }, [string, string, number]>(
    `SELECT id FROM runs WHERE project_id = ? AND environment = ? AND status = 'queued'
       AND (thread_id IS NULL OR NOT EXISTS (${aheadInThread})) ORDER BY id LIMIT ?`,
  );
  // Reads only unfinished runs in threads, which are few; most queues have none.
  const countBehind = sqlite.query<{ n: number }, [string, string, string]>(
    `SELECT count(*) AS n FROM runs INDEXED BY runs_in_thread
     WHERE project_id = ? AND environment = ? AND thread_id IS NOT NULL AND ended_at_ms IS NULL AND id < ?
       AND status = 'queued' AND EXISTS (${aheadInThread})`,
  );
  const selectInThread = sqlite.query<RunRow, [string, string, string]>(
    `SELECT ${runColumns} FROM runs WHERE project_id = ? AND environment = ? AND thread_id = ? AND ended_at_ms IS NULL
     ORDER BY status = 'queued', id`,
  );
  // The first condition selects the index: without it, SQLite would scan all runs.
  const selectQueues = sqlite.query<Scope, []>(
    `SELECT DISTINCT project_id, environment FROM runs
     WHERE status IN ('in_progress', 'queued') AND status = 'queued'`,
  );

  function placeOf(row: Pick<RunRow, keyof Scope | "id" | "status">): number | null {
    return row.status === "queued" ? positionOf(row) : null;
  }

  /** Position from 1: within its thread if it waits for that, else among all runs that could begin. */
  function positionOf({ id, project_id, environment }: Scope & { id: string }): number {
    const threadRuns = inThread({ project_id, environment }, journal.head(id)?.thread_id ?? null);
    const place = threadRuns.findIndex((run) => run.id === id);
    if (place > 0) return threadRuns.slice(0, place).filter(({ status }) => status === "queued").length + 1;
    const behind = onlyRow(countBehind.get(project_id, environment, id)).n;
    return onlyRow(countBefore.get(project_id, environment, id)).n - behind + 1;
  }

  /** Returns the unfinished runs of a thread: the active one, then the queued ones. */
  const inThread = ({ project_id, environment }: Scope, thread_id: string | null): RunRow[] =>
    thread_id === null ? [] : selectInThread.all(project_id, environment, thread_id);

  return {
    placeOf,
    inProgress: ({ project_id, environment }: Scope): number => onlyRow(countActive.get(project_id, environment)).n,
    /** Returns the durations from which the wait for a slot is estimated. */
    pace: ({ project_id, environment }: Scope, at: number): Pace => ({
      running: selectWorking.all(at, at, project_id, environment),
      recent_ms: selectRecent.all(project_id, environment).map(({ worked_ms }) => worked_ms),
    }),
    queued: ({ project_id, environment }: Scope): number => onlyRow(countQueued.get(project_id, environment)).n,
    /** Number of queued runs that wait only for a slot. */
    waitForSlot({ project_id, environment }: Scope): number {
      const { n } = onlyRow(countQueued.get(project_id, environment));
      return n === 0 ? 0 : n - onlyRow(countBehind.get(project_id, environment, afterAllRuns)).n;
    },
    inThread,
    /** Returns the oldest queued runs that wait only for a slot. */
    firstQueued: ({ project_id, environment }: Scope, limit: number): string[] =>
      selectQueued.all(project_id, environment, limit).map(({ id }) => id),
    /** Returns every scope with queued runs. */
    queues: (): Scope[] => selectQueues.all(),
  };
}
