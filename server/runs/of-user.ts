import type { Scope } from "../core/scope.ts";
import type { Db } from "../db/open.ts";
import { isShown } from "../journal/journal.ts";
import { createUnpin } from "./pins.ts";
import type { RunRow } from "./run-row.ts";
import type { RunStore } from "./store.ts";
import { createWriteSize, runsPerWrite } from "./write-size.ts";

type OwnRow = Pick<RunRow, "id" | "project_id" | "environment" | "summary" | "seq"> & { session_id: string | null };
type Of = [projectId: string, environment: string, userId: string];

const ofUser = "project_id = ? AND environment = ? AND user_id = ?";

export type RunsOfUser = ReturnType<typeof createRunsOfUser>;

/** All runs that are for one user, to end them and to delete them. */
export function createRunsOfUser({ db: { sqlite }, runs }: { db: Pick<Db, "sqlite">; runs: RunStore }) {
  const selectLive = sqlite.query<{ id: string }, Of>(
    `SELECT id FROM runs WHERE ${ofUser} AND ended_at_ms IS NULL AND ${isShown} ORDER BY depth, id LIMIT ${runsPerWrite}`,
  );
  const selectOver = sqlite.query<OwnRow, Of>(
    `SELECT id, project_id, environment, summary, seq, session_id FROM runs
     WHERE ${ofUser} AND ended_at_ms IS NOT NULL AND ${isShown} ORDER BY id LIMIT ${runsPerWrite}`,
  );
  const affordable = createWriteSize(sqlite);
  const unpin = createUnpin(sqlite);

  return {
    /** Some of those that are not over. */
    live: ({ project_id, environment }: Scope, userId: string): string[] =>
      selectLive.all(project_id, environment, userId).map(({ id }) => id),
    /** As many of those that are over as one write may delete. */
    over: ({ project_id, environment }: Scope, userId: string): OwnRow[] =>
      affordable(selectOver.all(project_id, environment, userId)),
    /** Within a write: whatever suites had pinned. What a long one leaves goes with `clear`. */
    erase(row: OwnRow): void {
      unpin(row, row.id);
      runs.erase(row);
    },
    clear: runs.clear,
  };
}
