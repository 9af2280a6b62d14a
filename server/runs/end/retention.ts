import type { RetentionDays } from "../../domain/project-settings.ts";
import { environments, type Scope } from "../../domain/scope.ts";
import type { Log } from "../../lib/log.ts";
import type { ProjectStore } from "../../resources/projects/store.ts";
import type { Db } from "../../storage/db/open.ts";
import { isNotPinned } from "../create/pinned-runs.ts";
import type { RunRow } from "../run-row.ts";
import type { RunStore } from "../store.ts";
import { createDeletionBatch, runsPerBatch } from "./deletion-batch.ts";

/** Call inside a write. Deletes up to `limit` expired rows; returns the number deleted. */
export type DeleteExpired = (limit: number) => number;

/** Counts of what a sweep deleted. */
interface Swept {
  runs: number;
  traces: number;
}

type EndedRow = RunRow & { place: number; ended_at_ms: number };

/** Cursor of a sweep: runs up to here were checked. */
type Place = Pick<EndedRow, "ended_at_ms" | "place">;

const day_ms = 24 * 3_600_000;
const first_ms = 10_000;
const every_ms = 5 * 60_000;
const rowsPerWrite = 500; // Small, so that the next write waits only milliseconds.

/**
 * Oldest first, by the index `runs_by_end`; no runs pinned by a suite; child runs only after their parent has ended.
 */
export const selectEnded = `
  SELECT id, project_id, environment, agent_id, status, seq, attempt, created_at_ms, worked_ms,
    status_since_ms, expires_at_ms, summary, ended_at_ms,
    rowid AS place
  FROM runs WHERE project_id = ? AND environment = ? AND (summary IS NULL) = ?
    AND ended_at_ms < ? AND (ended_at_ms, rowid) > (?, ?)
    AND (parent_run_id IS NULL OR NOT EXISTS (
      SELECT 1 FROM runs p WHERE p.id = runs.parent_run_id AND p.ended_at_ms IS NULL))
    AND ${isNotPinned}
  ORDER BY ended_at_ms, rowid LIMIT ?`;

/**
 * Deletes what is older than the retention of its project and environment; nothing by default. All state is in the
 * database, so that the next sweep resumes one that was interrupted.
 */
export function createRetention({
  db,
  projects,
  runs,
  forgetters,
  log,
  now,
  pause_ms = 5,
}: {
  db: Db;
  projects: ProjectStore;
  runs: RunStore;
  /** Expiry of other tables. */
  forgetters: readonly DeleteExpired[];
  log: Log;
  now: () => number;
  /** Milliseconds between two writes, left to other work. */
  pause_ms?: number;
}) {
  const select = db.sqlite.query<EndedRow, [string, string, boolean, number, number, number, number]>(selectEnded);
  const takeBatch = createDeletionBatch(db.sqlite);
  let stopped = false;
  let sweeping: Promise<Swept> | null = null;
  let timer: Timer | undefined;

  /** Deletes everything expired; one sweep at a time. */
  function sweep(): Promise<Swept> {
    sweeping ??= sweepAll().finally(() => {
      sweeping = null;
    });
    return sweeping;
  }

  async function sweepAll(): Promise<Swept> {
    const totals: Swept = { runs: 0, traces: 0 };
    for (const { id: project_id, settings } of projects.list())
      for (const environment of environments) {
        const { runs, traces } = await sweepScope({ project_id, environment }, settings.retention?.[environment] ?? {});
        totals.runs += runs;
        totals.traces += traces;
      }
    for (const forget of forgetters)
      while (!stopped && (await db.write(() => forget(rowsPerWrite))) > 0) await Bun.sleep(pause_ms);
    if (totals.runs + totals.traces > 0) log.info("what was older than its project keeps was deleted", { ...totals });
    return totals;
  }

  async function sweepScope(scope: Scope, { runs_days, traces_days }: RetentionDays): Promise<Swept> {
    const swept: Swept = { runs: 0, traces: 0 };
    // Runs first, because a run that is deleted whole needs no summary.
    if (runs_days)
      for (const hasTrace of [true, false]) swept.runs += await drain(scope, hasTrace, runs_days, runs.erase);
    if (traces_days) swept.traces += await drain(scope, true, traces_days, runs.eraseTrace);
    return swept;
  }

  /** Erases all runs that ended more than `days` days ago, write by write; returns their number. */
  async function drain(scope: Scope, traced: boolean, days: number, erase: (row: RunRow) => void): Promise<number> {
    const before = now() - days * day_ms;
    let count = 0;
    for (let from: Place | null = { ended_at_ms: -1, place: 0 }; from && !stopped; ) {
      const place: Place = from;
      const result = await db.write(() => eraseSome(scope, traced, before, place, erase));
      await runs.clear();
      count += result.count;
      from = result.next;
      if (from) await Bun.sleep(pause_ms);
    }
    return count;
  }

  /** Call inside a write. `next` is null when nothing is left. */
  function eraseSome(scope: Scope, traced: boolean, before: number, from: Place, erase: (row: RunRow) => void) {
    const { project_id, environment } = scope;
    const { ended_at_ms, place } = from;
    const due = select.all(project_id, environment, traced, before, ended_at_ms, place, runsPerBatch);
    const batch = takeBatch(due);
    const count = batch.filter((row) => tryErase(row, erase)).length;
    return { count, next: batch.at(-1) ?? null };
  }

  /** Logs a run that cannot be read, so that it does not block the deletion of others. */
  function tryErase(row: RunRow, erase: (row: RunRow) => void): boolean {
    try {
      erase(row);
      return true;
    } catch (error) {
      if (!db.sqlite.inTransaction) throw error; // The disk is full and the write has ended.
      log.error("a run could not be deleted when its time was up", { run_id: row.id, error });
      return false;
    }
  }

  function arm(ms: number): void {
    timer = setTimeout(async () => {
      await sweep().catch((error) => log.error("what is older than it is kept was not deleted", { error }));
      if (!stopped) arm(every_ms);
    }, ms).unref();
  }

  return {
    sweep,
    /** Starts periodic sweeps; the first one comes soon. */
    start: () => arm(first_ms),
    /** Stops after the current write; the next start continues. */
    async stop(): Promise<void> {
      stopped = true;
      clearTimeout(timer);
      await sweeping?.catch(() => {});
    },
  };
}
