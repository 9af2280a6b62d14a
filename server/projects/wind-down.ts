import type { Scope } from "../core/scope.ts";
import type { Db } from "../db/open.ts";
import type { Log } from "../lib/log.ts";
import { createEraser } from "./erase.ts";
import type { ProjectStore } from "./store.ts";

interface ActiveRun extends Scope {
  id: string;
  deleted: 0 | 1;
}

const runsAtOnce = 50;

/** By the partial tables of what is archived and what is going on: nothing of it grows with what is over. */
export const selectWoundDown = `
  SELECT r.id, r.project_id, r.environment, p.deleted_at_ms IS NOT NULL AS deleted
  FROM projects p CROSS JOIN (SELECT 'test' AS name UNION ALL SELECT 'live') e CROSS JOIN runs r
    ON r.project_id = p.id AND r.environment = e.name AND r.status IN ('in_progress', 'requires_action', 'queued')
  WHERE p.archived_at_ms IS NOT NULL LIMIT ${runsAtOnce}`;

/**
 * Ends what goes on in projects that were archived or deleted, and erases the deleted ones. It looks every second, since
 * the command line does both from another process, and keeps nothing in memory, so that the next start goes on with it.
 */
export function createWindDown({
  db,
  projects,
  cancel,
  eraseFirst,
  log,
  every_ms = 1000,
}: {
  db: Db;
  projects: Pick<ProjectStore, "deleted">;
  cancel: (scope: Scope, runId: string, reason: string) => Promise<void>;
  /** What of a project is erased before its rows. */
  eraseFirst?: (projectId: string) => number;
  log: Log;
  every_ms?: number;
}) {
  const active = db.sqlite.query<ActiveRun, []>(selectWoundDown);
  const erase = createEraser({ db, first: eraseFirst });
  let stopped = false;
  let timer: Timer | undefined;
  let erasing: Promise<void> | null = null;

  /** Cancels what still runs. A run that ended by itself meanwhile is as good. */
  async function cancelAll(): Promise<void> {
    for (let found = active.all(); found.length > 0 && !stopped; found = active.all()) {
      const ends = found.map((run) => cancel(run, run.id, `The project was ${run.deleted ? "deleted" : "archived"}.`));
      const failed = (await Promise.allSettled(ends)).filter((end) => end.status === "rejected");
      // Storage that takes no write now is asked again with the next look.
      if (failed.length === found.length) throw failed[0]!.reason;
    }
  }

  async function eraseAll(): Promise<void> {
    for (const id of projects.deleted())
      if (await erase(id, () => !stopped)) log.info("a project was deleted with everything in it", { project_id: id });
  }

  /** One look: cancels, and begins to erase unless it does already. Waits for the former alone. */
  async function look(): Promise<void> {
    await cancelAll();
    erasing ??= eraseAll()
      .catch((error) => log.error("a project could not be erased", { error }))
      .finally(() => {
        erasing = null;
      });
  }

  function arm(): void {
    timer = setTimeout(async () => {
      await look().catch((error) => log.error("runs of an archived project could not be cancelled", { error }));
      if (!stopped) arm();
    }, every_ms).unref();
  }

  return {
    cancelAll,
    /** Looks every second from now on. */
    start: arm,
    /** For tests and for whoever cannot wait: looks now, and returns when all is done. */
    async finish(): Promise<void> {
      await look();
      await erasing;
    },
    /** Ends after the write in flight; what is left is for the next start. */
    async stop(): Promise<void> {
      stopped = true;
      clearTimeout(timer);
      await erasing?.catch(() => {});
    },
  };
}
