import type { Environment, Scope } from "../../domain/scope.ts";
import type { Db } from "../../storage/db/open.ts";
import { type memoryChunks, memoryEntries } from "../../storage/db/schema.ts";
import { columnsOf } from "../../storage/db/scoped-table.ts";
import { createStoreRows, type EntryRow, type VectorStoreRow } from "./row.ts";

type ChunkRow = typeof memoryChunks.$inferSelect;

/** A chunk before it has a number. */
type NewChunk = Pick<ChunkRow, "text" | "tokens" | "page" | "heading">;

/** A chunk without a vector of its store's generation. */
export type PendingChunk = Pick<ChunkRow, "number" | "text">;

/** An entry that is not indexed yet, with its store. */
export interface EntryWork {
  entry: EntryRow;
  store: VectorStoreRow;
}

type EntryRef = Scope & Pick<EntryRow, "id">;

export type EntryWorkStore = ReturnType<typeof createEntryWork>;

/** Queries of the indexer over entries. Call those that write inside a write. */
export function createEntryWork({ db, now = Date.now }: { db: Db; now?: () => number }) {
  const { sqlite } = db;
  const processing = sqlite.query<EntryRow, [string, number, number]>(
    `SELECT ${columnsOf(memoryEntries, "e")} FROM memory_entries e
     JOIN memory_stores s ON s.project_id = e.project_id AND s.environment = e.environment AND s.id = e.memory_id
     WHERE e.status = 'processing' AND e.deleted_at_ms IS NULL AND s.deleted_at_ms IS NULL
       AND e.id NOT IN (SELECT value FROM json_each(?)) AND (e.expires_at_ms IS NULL OR e.expires_at_ms > ?)
     ORDER BY e.id LIMIT ?`,
  );
  const one = sqlite.query<EntryRow, [string, Environment, string]>(
    `SELECT ${columnsOf(memoryEntries)} FROM memory_entries WHERE project_id = ? AND environment = ? AND id = ? AND status = 'processing'
       AND deleted_at_ms IS NULL`,
  );
  const stores = createStoreRows(db);
  const storeOf = (entry: EntryRow) => stores.get(entry, entry.memory_id) as VectorStoreRow | null;
  const insertion = sqlite.query(
    `INSERT INTO memory_chunks (project_id, environment, entry_id, store, chunk_index, text, tokens, page, heading)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const pending = sqlite.query<PendingChunk, [string, Environment, string, number, number]>(
    `SELECT number, text FROM memory_chunks
     WHERE project_id = ? AND environment = ? AND entry_id = ? AND generation < ? ORDER BY chunk_index LIMIT ?`,
  );
  const embedded = sqlite.query(
    `UPDATE memory_chunks SET generation = max(generation, ?) WHERE number IN (SELECT value FROM json_each(?))`,
  );
  const counting = sqlite.query(
    "UPDATE memory_entries SET total = ?, updated_at_ms = ? WHERE project_id = ? AND environment = ? AND id = ?",
  );
  const progress = sqlite.query(
    `UPDATE memory_entries SET processed = processed + ?, error = NULL, updated_at_ms = ?
     WHERE project_id = ? AND environment = ? AND id = ?`,
  );
  // Does not set the time of change, from which an entry's waiting time is counted.
  const waiting = sqlite.query(
    `UPDATE memory_entries SET error = ?
     WHERE project_id = ? AND environment = ? AND id = ? AND status = 'processing' AND deleted_at_ms IS NULL`,
  );
  const ending = sqlite.query(
    `UPDATE memory_entries SET status = ?, error = ?, updated_at_ms = ?
     WHERE project_id = ? AND environment = ? AND id = ? AND status = 'processing' AND deleted_at_ms IS NULL`,
  );

  const end = (status: EntryRow["status"], { project_id, environment, id }: EntryRef, error: string | null): boolean =>
    ending.run(status, error, now(), project_id, environment, id).changes > 0;

  return {
    /** Entries to index, oldest first, except these. */
    processing(limit: number, except: readonly string[] = []): EntryWork[] {
      return processing.all(JSON.stringify(except), now(), limit).map((entry) => ({ entry, store: storeOf(entry)! }));
    },

    /**
     * Null if the entry was indexed, deleted or changed, or its store was deleted. Check again before each write,
     * because nothing is locked.
     */
    find({ project_id, environment, id, text }: EntryRef & Pick<EntryRow, "text">): EntryWork | null {
      const found = one.get(project_id, environment, id);
      const entry = found?.text === text ? found : null;
      const store = entry && storeOf(entry);
      return entry && store && { entry, store };
    },

    /**
     * Inserts an entry's chunks from index `from` on, so that a long document takes several writes. `total` is set with
     * the last: without it, chunking continues there.
     */
    insertChunks({ entry, store }: EntryWork, chunks: readonly NewChunk[], from = 0): void {
      const { project_id, environment, id } = entry;
      chunks.forEach(({ text, tokens, page, heading }, index) => {
        insertion.run(project_id, environment, id, store.number, from + index, text, tokens, page, heading);
      });
    },
    setTotal({ project_id, environment, id }: EntryRef, total: number): void {
      counting.run(total, now(), project_id, environment, id);
    },

    /** Chunks without a vector of this generation, in order. */
    pendingChunks: ({ project_id, environment, id }: EntryRef, generation: number, limit: number): PendingChunk[] =>
      pending.all(project_id, environment, id, generation, limit),

    /** Call together with the insertion of the vectors and words of these chunks. */
    noteVectors(numbers: readonly number[], generation: number): void {
      embedded.run(generation, JSON.stringify(numbers));
    },
    noteProgress({ project_id, environment, id }: EntryRef, chunks: number): void {
      progress.run(chunks, now(), project_id, environment, id);
    },

    /** Records why the entry is stalled. */
    noteFault({ project_id, environment, id }: EntryRef, error: { code: string; message: string }): void {
      waiting.run(JSON.stringify(error), project_id, environment, id);
    },

    /** True if it was processing until now. */
    markReady: (entry: EntryRef): boolean => end("ready", entry, null),
    markFailed: (entry: EntryRef, error: { code: string; message: string }): boolean =>
      end("failed", entry, JSON.stringify(error)),
  };
}
