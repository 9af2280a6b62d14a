import type { Environment, Scope } from "../core/scope.ts";
import type { Db } from "../db/open.ts";
import { columnsOf } from "../db/rows.ts";
import { type memoryChunks, memoryEntries } from "../db/schema.ts";
import { createStoreRows, type EntryRow, type VectorStoreRow } from "./row.ts";

type ChunkRow = typeof memoryChunks.$inferSelect;

/** A chunk before it has a number. */
type NewChunk = Pick<ChunkRow, "text" | "tokens" | "page" | "heading">;

/** A chunk that has no vector of its store's generation yet. */
export type PendingChunk = Pick<ChunkRow, "number" | "text">;

/** An entry that is not indexed yet, with its store. */
export interface EntryWork {
  entry: EntryRow;
  store: VectorStoreRow;
}

type EntryRef = Scope & Pick<EntryRow, "id">;

export type EntryWorkStore = ReturnType<typeof createEntryWork>;

/** What indexing reads and writes of entries. Whatever writes is called within a write. */
export function createEntryWork({ db, now = Date.now }: { db: Pick<Db, "sqlite" | "orm">; now?: () => number }) {
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
  // Not a change: how long an entry has waited is counted from its last one.
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
    /** Entries to index, the oldest first, but none of these. */
    processing(limit: number, except: readonly string[] = []): EntryWork[] {
      return processing.all(JSON.stringify(except), now(), limit).map((entry) => ({ entry, store: storeOf(entry)! }));
    },

    /**
     * Null: it was indexed, deleted or given another text, or its store was deleted. Asked again before each write, since
     * all that takes no lock.
     */
    find({ project_id, environment, id, text }: EntryRef & Pick<EntryRow, "text">): EntryWork | null {
      const found = one.get(project_id, environment, id);
      const entry = found?.text === text ? found : null;
      const store = entry && storeOf(entry);
      return entry && store && { entry, store };
    },

    /**
     * Some of an entry's chunks, those from `from` on, so that a long document goes in over several writes. `total` is
     * set with the last of them: an entry without it is chunked anew from where it stands.
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

    /** Chunks without a vector of this generation, in their order. */
    pendingChunks: ({ project_id, environment, id }: EntryRef, generation: number, limit: number): PendingChunk[] =>
      pending.all(project_id, environment, id, generation, limit),

    /** Together with the vectors and words of these chunks. */
    noteVectors(numbers: readonly number[], generation: number): void {
      embedded.run(generation, JSON.stringify(numbers));
    },
    noteProgress({ project_id, environment, id }: EntryRef, chunks: number): void {
      progress.run(chunks, now(), project_id, environment, id);
    },

    /** Why it does not go on now. */
    noteFault({ project_id, environment, id }: EntryRef, error: { code: string; message: string }): void {
      waiting.run(JSON.stringify(error), project_id, environment, id);
    },

    /** Whether it was processing until now. */
    markReady: (entry: EntryRef): boolean => end("ready", entry, null),
    markFailed: (entry: EntryRef, error: { code: string; message: string }): boolean =>
      end("failed", entry, JSON.stringify(error)),
  };
}
