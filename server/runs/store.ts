import type { Database } from "bun:sqlite";
import { AppError } from "../core/errors.ts";
import { type RunObject, runObject } from "../core/run-object.ts";
import { fold, isOver, type RunStatus } from "../core/run-state.ts";
import type { Scope } from "../core/scope.ts";
import type { Db } from "../db/open.ts";
import { notFound } from "../http/not-found.ts";
import type { Journal } from "../journal/journal.ts";

/** The row of a run: what runs are listed and timed by. */
export interface RunRow {
  id: string;
  status: RunStatus;
  seq: number;
  expires_at_ms: number | null;
  trace_deleted_at_ms: number | null;
}

export type RunStore = ReturnType<typeof createRunStore>;

/** Runs as clients find them. Their content is a fold of the journal; only rows are written or deleted here. */
export function createRunStore({ db, journal }: { db: Db; journal: Journal }) {
  const { sqlite } = db;
  const columns = "id, status, seq, expires_at_ms, trace_deleted_at_ms";
  const select = sqlite.query<RunRow, [string, string, string]>(
    `SELECT ${columns} FROM runs WHERE id = ? AND project_id = ? AND environment = ?`,
  );
  const countActive = sqlite.query<{ n: number }, [string, string]>(
    "SELECT count(*) AS n FROM runs WHERE project_id = ? AND environment = ? AND status = 'in_progress'",
  );
  const selectExpiry = sqlite.query<{ at: number | null }, [string]>(
    "SELECT expires_at_ms AS at FROM runs WHERE id = ?",
  );
  const selectUnfinished = sqlite.query<{ id: string }, []>(
    "SELECT id FROM runs WHERE status IN ('in_progress', 'queued') ORDER BY id",
  );

  /** The row of a run of this scope; another scope's run is not there. */
  function standing({ project_id, environment }: Scope, id: string): RunRow {
    const row = select.get(id, project_id, environment);
    if (!row) throw notFound();
    return row;
  }

  const read = (row: Pick<RunRow, "id" | "expires_at_ms">): RunObject =>
    runObject(fold(journal.read(row.id)), row.expires_at_ms);

  return {
    standing,
    read,
    get: (scope: Scope, id: string): RunObject => read(standing(scope, id)),
    inProgress: ({ project_id, environment }: Scope): number => countActive.get(project_id, environment)!.n,
    expiry: (id: string): number | null => selectExpiry.get(id)?.at ?? null,
    unfinished: (): string[] => selectUnfinished.all().map(({ id }) => id),

    /** Deletes a run that is over, with its journal and what nobody else shares of its blobs. */
    async remove(scope: Scope, id: string): Promise<void> {
      await db.write(() => {
        if (!isOver(standing(scope, id).status))
          throw new AppError("run_not_terminal", "The run is not over: cancel it first.");
        deleteRun(sqlite, scope, id);
      });
    },

    /** Calls of every run of this scope that wait for somebody, oldest first. */
    pending({ project_id, environment }: Scope, needs?: string) {
      return sqlite
        .query<{ run_id: string; needs: string; call: string; created_at_ms: number; expires_at_ms: number }, string[]>(
          `SELECT p.run_id, p.needs, p.call, p.created_at_ms, r.expires_at_ms FROM pending_calls AS p
           JOIN runs AS r ON r.id = p.run_id WHERE p.project_id = ? AND p.environment = ?
           ${needs ? "AND p.needs = ?" : ""} ORDER BY p.id LIMIT 100`,
        )
        .all(project_id, environment, ...(needs ? [needs] : []));
    },
  };
}

function deleteRun(sqlite: Database, { project_id, environment }: Scope, id: string): void {
  const hashes = sqlite.query<{ hash: string }, [string]>("SELECT hash FROM run_blobs WHERE run_id = ?").all(id);
  sqlite.query("DELETE FROM runs WHERE id = ?").run(id);
  const forget = sqlite.query(
    `DELETE FROM blobs WHERE project_id = ?1 AND environment = ?2 AND hash = ?3 AND NOT EXISTS (
       SELECT 1 FROM run_blobs JOIN runs ON runs.id = run_blobs.run_id
       WHERE run_blobs.hash = ?3 AND runs.project_id = ?1 AND runs.environment = ?2)`,
  );
  for (const { hash } of hashes) forget.run(project_id, environment, hash);
}
