import type { RetentionDays } from "../core/project-settings.ts";
import { environments, type Scope } from "../core/scope.ts";
import type { Db } from "../db/open.ts";
import type { Log } from "../lib/log.ts";
import type { ProjectStore } from "../projects/store.ts";
import { isNotPinned } from "./pins.ts";
import type { RunRow } from "./run-row.ts";
import type { RunStore } from "./store.ts";
import { createWriteSize, runsPerWrite } from "./write-size.ts";

/** Within a write: deletes up to `limit` rows that have outlived their time, and returns how many those were. */
export type ForgetExpired = (limit: number) => number;

/** What a sweep deleted. */
interface Swept {
  runs: number;
  traces: number;
}

type EndedRow = RunRow & { place: number; ended_at_ms: number };

/** Where a sweep goes on: runs up to here were looked at. */
type Place = Pick<EndedRow, "ended_at_ms" | "place">;

const day_ms = 24 * 3_600_000;
const first_ms = 10_000;
const every_ms = 5 * 60_000;
const rowsPerWrite = 500; // At most, so that those who wait for the next write wait for milliseconds.

/** Oldest first, by the index `runs_by_end`, and none that a suite has pinned; of a run that others started only once its parent knows what came of it. */
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
 * Deletes what is older than its project and environment keep: nothing, unless somebody said so. It knows nothing that
 * does not stand in the database, so that a sweep that was stopped goes on with the next one.
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
  /** Whatever else has a time of its own. */
  forgetters: readonly ForgetExpired[];
  log: Log;
  now: () => number;
  /** Between two writes: time that belongs to everybody else. */
  pause_ms?: number;
}) {
  const select = db.sqlite.query<EndedRow, [string, string, boolean, number, number, number, number]>(selectEnded);
  const affordable = createWriteSize(db.sqlite);
  let stopped = false;
  let sweeping: Promise<Swept> | null = null;
  let timer: Timer | undefined;

  /** Deletes everything that is due; one sweep at a time. */
  function sweep(): Promise<Swept> {
    sweeping ??= sweepAll().finally(() => {
      sweeping = null;
    });
    return sweeping;
  }

  async function sweepAll(): Promise<Swept> {
    const swept: Swept = { runs: 0, traces: 0 };
    for (const { id: project_id, settings } of projects.list())
      for (const environment of environments) {
        const { runs, traces } = await sweepScope({ project_id, environment }, settings.retention?.[environment] ?? {});
        swept.runs += runs;
        swept.traces += traces;
      }
    for (const forget of forgetters)
      while (!stopped && (await db.write(() => forget(rowsPerWrite))) > 0) await Bun.sleep(pause_ms);
    if (swept.runs + swept.traces > 0) log.info("what was older than its project keeps was deleted", { ...swept });
    return swept;
  }

  async function sweepScope(scope: Scope, { runs_days, traces_days }: RetentionDays): Promise<Swept> {
    const swept: Swept = { runs: 0, traces: 0 };
    // Runs first: what goes altogether needs no summary any more.
    if (runs_days) for (const traced of [true, false]) swept.runs += await drain(scope, traced, runs_days, runs.erase);
    if (traces_days) swept.traces += await drain(scope, true, traces_days, runs.eraseTrace);
    return swept;
  }

  /** Erases all that ended more than so many days ago, write by write. Returns how many. */
  async function drain(scope: Scope, traced: boolean, days: number, erase: (row: RunRow) => void): Promise<number> {
    const before = now() - days * day_ms;
    let count = 0;
    for (let from: Place | null = { ended_at_ms: -1, place: 0 }; from && !stopped; ) {
      const place: Place = from;
      const done = await db.write(() => eraseSome(scope, traced, before, place, erase));
      await runs.clear();
      count += done.count;
      from = done.next;
      if (from) await Bun.sleep(pause_ms);
    }
    return count;
  }

  /** Within a write. `next` is null when nothing is left. */
  function eraseSome(scope: Scope, traced: boolean, before: number, from: Place, erase: (row: RunRow) => void) {
    const { project_id, environment } = scope;
    const { ended_at_ms, place } = from;
    const due = select.all(project_id, environment, traced, before, ended_at_ms, place, runsPerWrite);
    const some = affordable(due);
    const count = some.filter((row) => erased(row, erase)).length;
    return { count, next: some.at(-1) ?? null };
  }

  /** A run whose journal cannot be read any more may not keep the others from going. */
  function erased(row: RunRow, erase: (row: RunRow) => void): boolean {
    try {
      erase(row);
      return true;
    } catch (error) {
      if (!db.sqlite.inTransaction) throw error; // The disk is full: the write is over.
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
    /** Sweeps soon, and then every few minutes. */
    start: () => arm(first_ms),
    /** Ends after the write in flight; what is left is for the next start. */
    async stop(): Promise<void> {
      stopped = true;
      clearTimeout(timer);
      await sweeping?.catch(() => {});
    },
  };
}
