import { memoryKinds } from "../../domain/memory-kinds/memory-kinds.ts";
import type { Environment } from "../../domain/scope.ts";
import { dropStoreTables, removeChunks } from "../../runtime/retrieval/vector-search/tables.ts";
import { createGarbageCollector } from "../../storage/db/garbage-collector.ts";
import type { Db } from "../../storage/db/open.ts";
import type { EntryRow, StoreRow } from "./row.ts";

// Most chunks that one write deletes, so that the next write waits only milliseconds.
const chunksPerWrite = 100;
const rowsPerWrite = 20; // Up to a megabyte each.

type Store = Pick<StoreRow, "project_id" | "environment" | "id" | "number" | "kind">;
const ofStores = "project_id, environment, id, number, kind FROM memory_stores";
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
  const expire = sqlite.query<Pick<EntryRow, "project_id" | "environment" | "memory_id">, [number, number, number]>(
    `UPDATE memory_entries SET deleted_at_ms = ? WHERE rowid IN (SELECT rowid FROM memory_entries
       WHERE expires_at_ms <= ? AND deleted_at_ms IS NULL LIMIT ?) RETURNING project_id, environment, memory_id`,
  );
  const counting = sqlite.query(
    "UPDATE memory_stores SET items = items - 1 WHERE project_id = ? AND environment = ? AND id = ?",
  );
  // Skip entries of a deleted store: its tables are dropped as a whole.
  const deletedEntry = sqlite.query<EntryKey, []>(
    `SELECT e.project_id, e.environment, e.id, e.memory_id FROM memory_entries e
     JOIN memory_stores s ON s.project_id = e.project_id AND s.environment = e.environment AND s.id = e.memory_id
     WHERE e.deleted_at_ms IS NOT NULL AND s.deleted_at_ms IS NULL LIMIT 1`,
  );
  const deletedStore = sqlite.query<Store, []>(`SELECT ${ofStores} WHERE deleted_at_ms IS NOT NULL LIMIT 1`);
  const storeById = sqlite.query<Store, [string, Environment, string]>(
    `SELECT ${ofStores} WHERE project_id = ? AND environment = ? AND id = ?`,
  );
  const hide = sqlite.query(
    "UPDATE memory_stores SET deleted_at_ms = ? WHERE project_id = ? AND environment = ? AND id = ?",
  );
  const storeOfProject = sqlite.query<Store, [string]>(`SELECT ${ofStores} WHERE project_id = ? LIMIT 1`);
  const chunksOfEntry = sqlite.query<{ number: number }, [string, Environment, string]>(
    `SELECT number FROM memory_chunks WHERE project_id = ? AND environment = ? AND entry_id = ? LIMIT ${chunksPerWrite}`,
  );
  const chunksOfStore = sqlite.query<{ number: number }, [number]>(
    `SELECT number FROM memory_chunks WHERE store = ? LIMIT ${chunksPerWrite}`,
  );
  const deleteChunks = sqlite.query("DELETE FROM memory_chunks WHERE number IN (SELECT value FROM json_each(?))");
  const deleteEntry = sqlite.query("DELETE FROM memory_entries WHERE project_id = ? AND environment = ? AND id = ?");
  const [deleteEntries, deleteKeys] = ["memory_entries", "memory_keys"].map((table) =>
    sqlite.query<unknown, [string, Environment, string]>(
      `DELETE FROM ${table} WHERE rowid IN (SELECT rowid FROM ${table}
         WHERE project_id = ? AND environment = ? AND memory_id = ? LIMIT ${rowsPerWrite})`,
    ),
  );
  const deleteStore = sqlite.query("DELETE FROM memory_stores WHERE project_id = ? AND environment = ? AND id = ?");

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
    const store = storeById.get(project_id, environment, memory_id)!;
    const chunks = removeRows(store, chunksOfEntry.all(project_id, environment, id));
    if (chunks < chunksPerWrite) deleteEntry.run(project_id, environment, id);
    return chunks + 1;
  }

  /**
   * Deletes some contents of a store, finally the store itself, and returns the number of rows. Call inside a write.
   */
  function eraseStore(store: Store): number {
    const { project_id, environment, id, number, kind } = store;
    const chunks = removeRows(store, chunksOfStore.all(number));
    if (chunks > 0) return chunks;
    for (const rows of [deleteEntries!, deleteKeys!]) {
      const { changes } = rows.run(project_id, environment, id);
      if (changes > 0) return changes;
    }
    if (memoryKinds[kind].isSearched) dropStoreTables(sqlite, store);
    deleteStore.run(project_id, environment, id);
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
    const rows = expire.all(now(), now(), Math.min(limit, rowsPerWrite));
    for (const { project_id, environment, memory_id } of rows) counting.run(project_id, environment, memory_id);
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
      hide.run(now(), store.project_id, store.environment, store.id); // Hide it, so that a half-deleted store is not searched.
      return eraseStore(store);
    },
  };
}
