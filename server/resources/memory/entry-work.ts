import type { Scope, ScopeColumns } from "../../domain/scope.ts";
import { requireValue } from "../../lib/require-value.ts";
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
  const processing = sqlite.query<EntryRow, { except: string; now: number; limit: number }>(
    `SELECT ${columnsOf(memoryEntries, "e")} FROM memory_entries e
     JOIN memory_stores s ON s.project_id = e.project_id AND s.environment = e.environment AND s.id = e.memory_id
     WHERE e.status = 'processing' AND e.deleted_at_ms IS NULL AND s.deleted_at_ms IS NULL
       AND e.id NOT IN (SELECT value FROM json_each($except)) AND (e.expires_at_ms IS NULL OR e.expires_at_ms > $now)
     ORDER BY e.id LIMIT $limit`,
  );
  type Key = ScopeColumns & { id: string };
  const key = "project_id = $project_id AND environment = $environment AND id = $id";
  const isProcessing = "status = 'processing' AND deleted_at_ms IS NULL";
  const one = sqlite.query<EntryRow, Key>(
    `SELECT ${columnsOf(memoryEntries)} FROM memory_entries WHERE ${key} AND ${isProcessing}`,
  );
  const stores = createStoreRows(db);
  const storeOf = (entry: EntryRow) => stores.get(entry, entry.memory_id) as VectorStoreRow | null;
  const insertion = sqlite.query(
    `INSERT INTO memory_chunks (project_id, environment, entry_id, store, chunk_index, text, tokens, page, heading)
     VALUES ($project_id, $environment, $id, $store, $index, $text, $tokens, $page, $heading)`,
  );
  const pending = sqlite.query<PendingChunk, Key & { generation: number; limit: number }>(
    `SELECT number, text FROM memory_chunks
     WHERE project_id = $project_id AND environment = $environment AND entry_id = $id AND generation < $generation
     ORDER BY chunk_index LIMIT $limit`,
  );
  const updateGeneration = sqlite.query(
    `UPDATE memory_chunks SET generation = max(generation, $generation)
     WHERE number IN (SELECT value FROM json_each($numbers))`,
  );
  const updateTotal = sqlite.query(`UPDATE memory_entries SET total = $total, updated_at_ms = $now WHERE ${key}`);
  const progress = sqlite.query(
    `UPDATE memory_entries SET processed = processed + $chunks, error = NULL, updated_at_ms = $now WHERE ${key}`,
  );
  // Does not set the time of change, from which an entry's waiting time is counted.
  const updateError = sqlite.query(`UPDATE memory_entries SET error = $error WHERE ${key} AND ${isProcessing}`);
  const ending = sqlite.query(
    `UPDATE memory_entries SET status = $status, error = $error, updated_at_ms = $now WHERE ${key} AND ${isProcessing}`,
  );

  const end = (status: EntryRow["status"], { project_id, environment, id }: EntryRef, error: string | null): boolean =>
    ending.run({ project_id, environment, id, status, error, now: now() }).changes > 0;

  return {
    /** Entries to index, oldest first, except these. */
    processing(limit: number, except: readonly string[] = []): EntryWork[] {
      return processing.all({ except: JSON.stringify(except), now: now(), limit }).map((entry) => ({
        entry,
        store: requireValue(storeOf(entry), `The store ${entry.memory_id}`),
      }));
    },

    /**
     * Null if the entry was indexed, deleted or changed, or its store was deleted. Check again before each write,
     * because nothing is locked.
     */
    find({ project_id, environment, id, text }: EntryRef & Pick<EntryRow, "text">): EntryWork | null {
      const found = one.get({ project_id, environment, id });
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
      const key = { project_id, environment, id, store: store.number };
      for (const [at, { text, tokens, page, heading }] of chunks.entries())
        insertion.run({ ...key, index: from + at, text, tokens, page, heading });
    },
    setTotal({ project_id, environment, id }: EntryRef, total: number): void {
      updateTotal.run({ project_id, environment, id, total, now: now() });
    },

    /** Chunks without a vector of this generation, in order. */
    pendingChunks: ({ project_id, environment, id }: EntryRef, generation: number, limit: number): PendingChunk[] =>
      pending.all({ project_id, environment, id, generation, limit }),

    /** Call together with the insertion of the vectors and words of these chunks. */
    noteVectors(numbers: readonly number[], generation: number): void {
      updateGeneration.run({ generation, numbers: JSON.stringify(numbers) });
    },
    noteProgress({ project_id, environment, id }: EntryRef, chunks: number): void {
      progress.run({ project_id, environment, id, chunks, now: now() });
    },

    /** Records why the entry is stalled. */
    noteFault({ project_id, environment, id }: EntryRef, error: { code: string; message: string }): void {
      updateError.run({ project_id, environment, id, error: JSON.stringify(error) });
    },

    /** True if it was processing until now. */
    markReady: (entry: EntryRef): boolean => end("ready", entry, null),
    markFailed: (entry: EntryRef, error: { code: string; message: string }): boolean =>
      end("failed", entry, JSON.stringify(error)),
  };
}
