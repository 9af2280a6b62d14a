import type { Scope } from "../domain/scope.ts";
import type { Db } from "../storage/db/open.ts";
import { isShown } from "../storage/journal/journal.ts";
import { createUnpin } from "./create/pinned-runs.ts";
import { createDeletionBatch, runsPerBatch } from "./end/deletion-batch.ts";
import type { RunRow } from "./run-row.ts";
import type { RunStore } from "./store.ts";

type OwnRow = Pick<RunRow, "id" | "project_id" | "environment" | "summary" | "seq"> & { session_id: string | null };
type Of = [projectId: string, environment: string, userId: string];

const ofUser = "project_id = ? AND environment = ? AND user_id = ?";

export type RunsByUser = ReturnType<typeof createRunsByUser>;

/** All runs of one user, to cancel and delete them. */
export function createRunsByUser({ db: { sqlite }, runs }: { db: Db; runs: RunStore }) {
  const selectLive = sqlite.query<{ id: string }, Of>(
    `SELECT id FROM runs WHERE ${ofUser} AND ended_at_ms IS NULL AND ${isShown} ORDER BY depth, id LIMIT ${runsPerBatch}`,
  );
  const selectOver = sqlite.query<OwnRow, Of>(
    `SELECT id, project_id, environment, summary, seq, session_id FROM runs
     WHERE ${ofUser} AND ended_at_ms IS NOT NULL AND ${isShown} ORDER BY id LIMIT ${runsPerBatch}`,
  );
  const affordable = createDeletionBatch(sqlite);
  const unpin = createUnpin(sqlite);

  return {
    /** Returns a batch of the unfinished runs. */
    live: ({ project_id, environment }: Scope, userId: string): string[] =>
      selectLive.all(project_id, environment, userId).map(({ id }) => id),
    /** Returns as many finished runs as one write may delete. */
    over: ({ project_id, environment }: Scope, userId: string): OwnRow[] =>
      affordable(selectOver.all(project_id, environment, userId)),
    /** Call inside a write. Deletes a run, even if a suite pins it; `clear` deletes the rest of a long one. */
    erase(row: OwnRow): void {
      unpin(row, row.id);
      runs.erase(row);
    },
    clear: runs.clear,
  };
}
