import type { Erased } from "../../domain/api-types/user.ts";
import { AppError } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import type { Scope } from "../../domain/scope.ts";
import { timestamp, timestampOrNull } from "../../domain/time.ts";
import type { Viewer } from "../../http/auth.ts";
import { listPage, type Page } from "../../http/page.ts";
import type { Log } from "../../lib/log.ts";
import { requireValue } from "../../lib/require-value.ts";
import type { Author, StoreBase } from "../../storage/db/audit.ts";
import { erasures } from "../../storage/db/schema.ts";
import { columnsOf, createReader, createScopedTable } from "../../storage/db/scoped-table.ts";
import type { EraseStep } from "./steps.ts";

type Row = typeof erasures.$inferSelect;

export type Erasures = ReturnType<typeof createErasures>;

const noCounts: Erased = {
  runs: 0,
  threads: 0,
  memory_entries: 0,
  memory_keys: 0,
  files: 0,
  schedules: 0,
  oauth_grants: 0,
};

const retry_ms = 1000;
const retryMost_ms = 60_000;

/**
 * Erases all data of a user, one user after the other, in writes so small that others do not wait. Progress is stored
 * in the database, so that the next start continues.
 */
export function createErasures({
  db,
  audit,
  cancelLive,
  steps,
  finish,
  log,
  now = Date.now,
  pause_ms = 5,
}: StoreBase & {
  /** Cancels some active runs of the user; returns the number of runs found. */
  cancelLive: (scope: Scope, userId: string) => Promise<number>;
  /** Executed in this order, each until nothing is left for it. */
  steps: readonly EraseStep[];
  /** Resolves when data marked as deleted is gone. */
  finish: () => Promise<unknown>;
  log: Log;
  pause_ms?: number;
}) {
  const rows = createScopedTable(db, erasures);
  const readRow = createReader(erasures);
  const selectActive = db.sqlite.query<Record<string, unknown>, [string, string, string]>(
    `SELECT ${columnsOf(erasures)} FROM erasures WHERE project_id = ? AND environment = ? AND user_id = ?`,
  );
  const selectNext = db.sqlite.query<Record<string, unknown>, []>(
    `SELECT ${columnsOf(erasures)} FROM erasures WHERE user_id IS NOT NULL ORDER BY id LIMIT 1`,
  );
  const waiters = new Map<string, Set<() => void>>();
  let currentWork: Promise<void> | null = null;
  let timer: Timer | undefined;
  let stopped = false;

  /** Call inside the write that deletes, so that counts stay right after a crash. */
  function add(row: Row, counts: Partial<Erased>): void {
    const { deleted } = rows.find(row, row.id);
    const sum = { ...noCounts, ...deleted };
    for (const [kind, count] of Object.entries(counts)) sum[kind as keyof Erased] += count;
    rows.update(row, row.id, { deleted: sum });
  }

  /** Erases until a whole round finds nothing; false if the server stops. */
  async function erase(row: Row): Promise<boolean> {
    const userId = requireValue(row.user_id, "The user of an erasure");
    for (let hasFound = true; hasFound; ) {
      hasFound = false;
      while (!stopped && (await cancelLive(row, userId)) > 0) hasFound = true;
      for (const step of steps)
        while (!stopped && (await oneWrite(step, row, userId))) {
          hasFound = true;
          await Bun.sleep(pause_ms); // Leave time for other work.
        }
    }
    if (!stopped) await finish();
    return !stopped;
  }

  async function oneWrite(step: EraseStep, row: Row, userId: string): Promise<boolean> {
    const gone = await db.write(() => {
      const gone = step.erase(row, userId);
      if (gone) add(row, gone);
      return gone;
    });
    if (gone) await step.erased?.();
    return gone !== null;
  }

  async function workAll(): Promise<void> {
    for (let raw = selectNext.get(); raw && !stopped; raw = selectNext.get()) {
      const row = readRow(raw);
      if (!(await erase(row))) return;
      await db.write(() => rows.update(row, row.id, { user_id: null, completed_at_ms: now() }));
      log.info("the data of a user was erased", { erasure_id: row.id });
      for (const notify of waiters.get(row.id) ?? []) notify();
    }
  }

  function work(again_ms = retry_ms): void {
    if (stopped) return;
    currentWork ??= workAll()
      .catch((error) => {
        log.error("the data of a user could not be erased; it is tried again", { error });
        timer = setTimeout(work, again_ms, Math.min(2 * again_ms, retryMost_ms)).unref();
      })
      .finally(() => {
        currentWork = null;
        // An erasure was requested while the last one ended.
        if (!timer && selectNext.get()) work();
        timer = undefined;
      });
  }

  return {
    /** Starts erasing a user; returns the id of the running erasure if there is one. */
    async begin(author: Author & Viewer, userId: string): Promise<string> {
      if (author.agent_ids)
        throw new AppError(
          "insufficient_scope",
          "A key that is bound to agents may not erase what others' runs have.",
          {
            details: { bound_by: "agent_ids" },
          },
        );
      const id = await db.write(() => {
        const existing = selectActive.get(author.project_id, author.environment, userId);
        if (existing) return String(existing.id);
        const { id } = rows.insert(author, {
          id: newId("erasure", now()),
          user_id: userId,
          deleted: noCounts,
          created_at_ms: now(),
        });
        audit.note(author, "erasure.requested", id);
        return id;
      });
      work();
      return id;
    },

    /** Resolves when the erasure is done, after `ms`, or when a signal is aborted. */
    async settled(scope: Scope, id: string, ms: number, signals: readonly AbortSignal[]): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>();
      const resolvers = waiters.get(id) ?? new Set();
      waiters.set(id, resolvers.add(resolve));
      const timer = setTimeout(resolve, ms);
      for (const signal of signals) signal.addEventListener("abort", () => resolve(), { once: true });
      if (rows.find(scope, id).user_id !== null) await promise;
      clearTimeout(timer);
      resolvers.delete(resolve);
      if (resolvers.size === 0) waiters.delete(id);
    },

    get: (scope: Scope, id: string) => serializeErasure(rows.find(scope, id)),
    list: (scope: Scope, page: Page) =>
      listPage(db, { table: erasures, kind: "erasure", scope, page }, serializeErasure),

    start: () => work(),
    /** Stops after the current write; the rest continues at the next start. */
    async stop(): Promise<void> {
      stopped = true;
      clearTimeout(timer);
      await currentWork;
    },
  };
}

const serializeErasure = (row: Row) => ({
  id: row.id,
  object: "erasure" as const,
  status: row.completed_at_ms === null ? ("in_progress" as const) : ("completed" as const),
  user_id: row.user_id,
  deleted: { ...noCounts, ...row.deleted },
  completed_at: timestampOrNull(row.completed_at_ms),
  metadata: {},
  created_at: timestamp(row.created_at_ms),
  project_id: row.project_id,
  environment: row.environment,
});
