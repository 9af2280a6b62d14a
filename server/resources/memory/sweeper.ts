import { memoryKinds } from "../../domain/memory-kinds/memory-kinds.ts";
import type { ScopeColumns } from "../../domain/scope.ts";
import { dropStoreTables, removeChunks } from "../../runtime/retrieval/vector-search/tables.ts";
import { createGarbageCollector } from "../../storage/db/garbage-collector.ts";
import type { Db } from "../../storage/db/open.ts";
import type { EntryRow, StoreRow } from "./row.ts";

// Most chunks that one write deletes, so that the next write waits only milliseconds.
const chunksPerWrite = 100;
const rowsPerWrite = 20; // Up to a megabyte each.

type Store = Pick<StoreRow, "project_id" | "environment" | "id" | "number" | "kind">;
const ofStores = "project_id, environment, id, number, kind FROM memory_stores";
type StoreKey = ScopeColumns & { id: string };
type EntryKey = Pick<EntryRow, "project_id" | "environment" | "id" | "memory_id">;

/**
 * Deletes the contents of deleted entries and stores. Pending deletions are in the database, so the next start
 * continues.
 */
export function createMemorySweeper({
  db,
  forgetStore = () => {},
  forgetChunks = () => {},
  onError = () => {},
  now = Date.now,
  pause_ms = 5,
}: {
  db: Db;
  /** Called when a store's tables were dropped, so that caches of them are, too. */
  forgetStore?: (number: number) => void;
  /** Called when chunks are about to be deleted, so that caches of them are, too. */
  forgetChunks?: (storeNumber: number, numbers: readonly number[]) => void;
  /** Called after a failed deletion, which is retried. */
  onError?: (error: unknown) => void;
  now?: () => number;
  pause_ms?: number;
}) {
  const { sqlite } = db;
  const scope = "project_id = $project_id AND environment = $environment";
  const expire = sqlite.query<StoreKey, { now: number; limit: number }>(
    `UPDATE memory_entries SET deleted_at_ms = $now WHERE rowid IN (SELECT rowid FROM memory_entries
       WHERE expires_at_ms <= $now AND deleted_at_ms IS NULL LIMIT $limit)
     RETURNING project_id, environment, memory_id AS id`,
  );
  const decrementItems = sqlite.query(`UPDATE memory_stores SET items = items - 1 WHERE ${scope} AND id = $id`);
  // Skip entries of a deleted store: its tables are dropped as a whole.
  const deletedEntry = sqlite.query<EntryKey, []>(
    `SELECT e.project_id, e.environment, e.id, e.memory_id FROM memory_entries e
     JOIN memory_stores s ON s.project_id = e.project_id AND s.environment = e.environment AND s.id = e.memory_id
     WHERE e.deleted_at_ms IS NOT NULL AND s.deleted_at_ms IS NULL LIMIT 1`,
  );
  const deletedStore = sqlite.query<Store, []>(`SELECT ${ofStores} WHERE deleted_at_ms IS NOT NULL LIMIT 1`);
  const storeById = sqlite.query<Store, StoreKey>(`SELECT ${ofStores} WHERE ${scope} AND id = $id`);
  const hide = sqlite.query(`UPDATE memory_stores SET deleted_at_ms = $now WHERE ${scope} AND id = $id`);
  const storeOfProject = sqlite.query<Store, [string]>(`SELECT ${ofStores} WHERE project_id = ? LIMIT 1`);
  const chunksOfEntry = sqlite.query<{ number: number }, StoreKey>(
    `SELECT number FROM memory_chunks WHERE ${scope} AND entry_id = $id LIMIT ${chunksPerWrite}`,
  );
  const chunksOfStore = sqlite.query<{ number: number }, [number]>(
    `SELECT number FROM memory_chunks WHERE store = ? LIMIT ${chunksPerWrite}`,
  );
  const deleteChunks = sqlite.query("DELETE FROM memory_chunks WHERE number IN (SELECT value FROM json_each(?))");
  const deleteEntry = sqlite.query(`DELETE FROM memory_entries WHERE ${scope} AND id = $id`);
  const deletionsOfStore = ["memory_entries", "memory_keys"].map((table) =>
    sqlite.query<unknown, StoreKey>(
      `DELETE FROM ${table} WHERE rowid IN
         (SELECT rowid FROM ${table} WHERE ${scope} AND memory_id = $id LIMIT ${rowsPerWrite})`,
    ),
  );
  const deleteStore = sqlite.query(`DELETE FROM memory_stores WHERE ${scope} AND id = $id`);

  /** Deletes chunks with their words and vectors and returns their number. Call inside a write. */
  function removeRows(store: Store, chunks: readonly { number: number }[]): number {
    const numbers = chunks.map(({ number }) => number);
    if (memoryKinds[store.kind].isSearched && numbers.length > 0) {
      removeChunks(sqlite, store, numbers);
      forgetChunks(store.number, numbers);
    }
    return deleteChunks.run(JSON.stringify(numbers)).changes;
  }

  /** Deletes rows of an entry and returns their number. Call inside a write. */
  function eraseEntry({ project_id, environment, id, memory_id }: EntryKey): number {
    const key = { project_id, environment, id };
    const store = storeById.get({ project_id, environment, id: memory_id });
    const chunks = store ? removeRows(store, chunksOfEntry.all(key)) : 0;
    if (chunks < chunksPerWrite) deleteEntry.run(key);
    return chunks + 1;
  }

  /**
   * Deletes some contents of a store, finally the store itself, and returns the number of rows. Call inside a write.
   */
  function eraseStore(store: Store): number {
    const { project_id, environment, id, number, kind } = store;
    const key = { project_id, environment, id };
    const chunks = removeRows(store, chunksOfStore.all(number));
    if (chunks > 0) return chunks;
    for (const deletion of deletionsOfStore) {
      const { changes } = deletion.run(key);
      if (changes > 0) return changes;
    }
    if (memoryKinds[kind].isSearched) dropStoreTables(sqlite, store);
    deleteStore.run(key);
    forgetStore(number);
    return 1;
  }

  /** Deletes some contents of deleted entries and stores and returns the number of rows. Call inside a write. */
  function forgetDeleted(): number {
    const entry = deletedEntry.get();
    if (entry) return eraseEntry(entry);
    const store = deletedStore.get();
    return store ? eraseStore(store) : 0;
  }

  /** Marks up to `limit` expired entries as deleted and returns their number. Call inside a write. */
  function forgetExpired(limit: number): number {
    const rows = expire.all({ now: now(), limit: Math.min(limit, rowsPerWrite) });
    for (const row of rows) decrementItems.run(row);
    return rows.length;
  }

  const collector = createGarbageCollector({
    db,
    forget: forgetDeleted,
    onError,
    pause_ms,
    isThere: () => deletedEntry.get() !== null || deletedStore.get() !== null,
  });

  return {
    ...collector,
    forgetDeleted,
    forgetExpired,
    /**
     * Deletes some rows of a deleted project's stores and returns their number; 0: none are left. Call inside a write.
     */
    eraseOfProject(projectId: string): number {
      const store = storeOfProject.get(projectId);
      if (!store) return 0;
      const { project_id, environment, id } = store;
      hide.run({ project_id, environment, id, now: now() }); // Hide it, so that a half-deleted store is not searched.
      return eraseStore(store);
    },
  };
}
