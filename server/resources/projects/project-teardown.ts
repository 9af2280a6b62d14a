import type { Scope } from "../../domain/scope.ts";
import { firstItem } from "../../lib/collections.ts";
import type { Log } from "../../lib/log.ts";
import { createPoll, type Poll } from "../../lib/poll.ts";
import type { Db } from "../../storage/db/open.ts";
import { createEraser } from "./erase.ts";
import type { ProjectStore } from "./store.ts";

interface ActiveRun extends Scope {
  id: string;
  deleted: 0 | 1;
}

const runsAtOnce = 50;

/** Uses the partial indexes of archived projects and active runs, so that the cost does not grow with ended runs. */
export const selectTornDown = `
  SELECT r.id, r.project_id, r.environment, p.deleted_at_ms IS NOT NULL AS deleted
  FROM projects p CROSS JOIN (SELECT 'test' AS name UNION ALL SELECT 'live') e CROSS JOIN runs r
    ON r.project_id = p.id AND r.environment = e.name AND r.status IN ('in_progress', 'requires_action', 'queued', 'paused')
  WHERE p.archived_at_ms IS NOT NULL LIMIT ${runsAtOnce}`;

/** True if runs have not ended, by the partial indexes of their deadlines, of paused and of queued runs, which have none. */
export const selectUnfinished = `
  SELECT EXISTS (SELECT 1 FROM runs WHERE expires_at_ms IS NOT NULL)
    OR EXISTS (SELECT 1 FROM runs WHERE status = 'paused')
    OR EXISTS (SELECT 1 FROM runs WHERE status = 'queued' AND status IN ('in_progress', 'queued')) AS is_unfinished`;

// Without runs there is nothing to end in time, only projects to erase, which are invisible already.
const idle_ms = 5000;

/**
 * Ends runs in archived and deleted projects, and erases the deleted ones. Polls, because the command line archives and
 * deletes from another process: every second while there are runs. Keeps no state, so the next start continues.
 */
export function createProjectTeardown({
  db,
  projects,
  cancel,
  eraseFirst,
  beforeErasing = async () => {},
  log,
  every_ms = 1000,
}: {
  db: Db;
  projects: ProjectStore;
  cancel: (scope: Scope, runId: string, reason: string) => Promise<void>;
  /** Erases a project's data that must go before its rows. */
  eraseFirst?: (projectId: string) => number;
  /** Ends what the project has at other servers, whose addresses are erased with it. */
  beforeErasing?: (projectId: string) => Promise<void>;
  log: Log;
  every_ms?: number;
}) {
  const active = db.sqlite.query<ActiveRun, []>(selectTornDown);
  const unfinished = db.sqlite.query<{ is_unfinished: 0 | 1 }, []>(selectUnfinished);
  const erase = createEraser({ db, first: eraseFirst });
  let stopped = false;
  let poll: Poll | undefined;
  let erasing: Promise<void> | null = null;

  /** Cancels all active runs. A run that ended by itself meanwhile counts as cancelled. */
  async function cancelAll(): Promise<void> {
    for (let found = active.all(); found.length > 0 && !stopped; found = active.all()) {
      const ends = found.map((run) => cancel(run, run.id, `The project was ${run.deleted ? "deleted" : "archived"}.`));
      const failed = (await Promise.allSettled(ends)).filter((end) => end.status === "rejected");
      // If storage accepts no write now, the next poll retries.
      if (failed.length === found.length) throw firstItem(failed).reason;
    }
  }

  async function eraseAll(): Promise<void> {
    for (const id of projects.deleted()) {
      await beforeErasing(id);
      if (await erase(id, () => !stopped)) log.info("a project was deleted with everything in it", { project_id: id });
    }
  }

  /** Polls once: cancels runs, and starts erasing unless it is in progress. Waits only for the former. */
  async function look(): Promise<void> {
    await cancelAll();
    erasing ??= eraseAll()
      .catch((error) => log.error("a project could not be erased", { error }))
      .finally(() => {
        erasing = null;
      });
  }

  /** Polls once, and returns true if there may be something to end or to erase soon. */
  async function lookForMore(): Promise<boolean> {
    try {
      await look();
      return !stopped && (projects.deleted().length > 0 || unfinished.get()?.is_unfinished === 1);
    } catch (error) {
      log.error("runs of an archived project could not be cancelled", { error });
      return !stopped;
    }
  }

  return {
    cancelAll,
    /** Starts polling. */
    start(): void {
      poll = createPoll({ every_ms, idle_ms, look: lookForMore });
      db.write.timed(poll.wake);
    },
    /** For tests and for callers that cannot wait: polls now, and resolves when all is done. */
    async finish(): Promise<void> {
      await look();
      await erasing;
    },
    /** Stops after the current write. The next start continues. */
    async stop(): Promise<void> {
      stopped = true;
      poll?.stop();
      await erasing?.catch(() => {});
    },
  };
}
