import type { CodedError } from "../../domain/errors.ts";
import { failpoint } from "../../lib/failpoint.ts";
import type { Log } from "../../lib/log.ts";
import type { SpendGuard } from "../../runtime/models/spend-guard.ts";
import type { Embedder, EmbeddingError } from "../../runtime/retrieval/embeddings/embedder.ts";
import {
  addVectors,
  createStoreTables,
  dropVectors,
  vectorsTable,
} from "../../runtime/retrieval/vector-search/tables.ts";
import type { Db } from "../../storage/db/open.ts";
import type { PendingChunk } from "./entry-work.ts";
import type { Write } from "./indexer-chunks.ts";
import type { IndexerQueue } from "./indexer-queue.ts";
import type { VectorStoreRow } from "./row.ts";

/** Progress of a store's new embedding. */
interface Progress {
  generation: number;
  processed: number;
  total: number;
  /** Last chunk that has its new vector. */
  at: number;
  error: CodedError | null;
}

/** A store whose embedding is being changed. */
type ChangingStore = VectorStoreRow & { next_model: string; next_dimensions: number };

const isChanging = (store: VectorStoreRow): store is ChangingStore =>
  store.next_model !== null && store.next_dimensions !== null;

type StoreGeneration = { store: number; generation: number };

const chunksPerBatch = 32;
const batchesPerTurn = 2;
// A store this close to the end finishes in one turn: otherwise new entries could delay the end forever.
const nearlyDone = 10 * chunksPerBatch;
const rowsPerWrite = 500;
const pause_ms = 5;

/**
 * Reindexes stores: vectors of the next generation are added beside the current ones and replace them in one write when
 * none is missing. The progress is stored in the chunks.
 */
export function createGenerations(options: {
  db: Db;
  embedders: { of(model: string, dimensions: number, payer?: SpendGuard): Embedder };
  queue: IndexerQueue;
  write: Write;
  forget: (storeNumber: number) => void;
  signal: AbortSignal;
  log: Log;
}) {
  const { db, embedders, queue, write, forget, signal, log } = options;
  const { sqlite } = db;
  // Skip chunks without a vector: their entry is not done, and gets vectors of the generation that is current then.
  const lacking = "store = $store AND generation > 0 AND generation < $generation";
  const next = sqlite.query<PendingChunk, StoreGeneration & { at: number }>(
    `SELECT number, text FROM memory_chunks WHERE ${lacking} AND number > $at ORDER BY number LIMIT ${chunksPerBatch}`,
  );
  const isLacking = sqlite.query<unknown, StoreGeneration>(`SELECT 1 FROM memory_chunks WHERE ${lacking} LIMIT 1`);
  const tally = sqlite.query<{ total: number; processed: number }, StoreGeneration>(
    `SELECT count(*) AS total, coalesce(sum(generation >= $generation), 0) AS processed FROM memory_chunks
     WHERE store = $store AND generation > 0`,
  );
  const updateGeneration = sqlite.query<{ number: number }, { generation: number; numbers: string }>(
    `UPDATE memory_chunks SET generation = max(generation, $generation)
     WHERE number IN (SELECT value FROM json_each($numbers))
     RETURNING number`,
  );
  const swapping = sqlite.query(
    `UPDATE memory_stores SET model = next_model, dimensions = next_dimensions, generation = last_generation,
       next_model = NULL, next_dimensions = NULL WHERE number = $store AND last_generation = $generation AND next_model IS NOT NULL`,
  );
  const unused = sqlite.query<{ number: number; generation: number }, []>(
    `SELECT number, made AS generation FROM (
       SELECT s.number, s.generation, s.next_model, s.last_generation,
         CAST(substr(t.name, length('memory_' || s.number || '_vectors_') + 1) AS INTEGER) AS made
       FROM memory_stores s JOIN sqlite_schema t ON t.name GLOB 'memory_' || s.number || '_vectors_*'
         AND t.sql LIKE 'CREATE VIRTUAL TABLE%'
       WHERE s.kind = 'vector' AND s.deleted_at_ms IS NULL)
     WHERE made <> generation AND NOT (next_model IS NOT NULL AND made = last_generation)`,
  );
  const jobs = new Map<number, Progress>();
  let collecting: Promise<void> | null = null;

  function jobOf({ number, last_generation }: VectorStoreRow): Progress {
    const known = jobs.get(number);
    if (known?.generation === last_generation) return known;
    const { total = 0, processed = 0 } = tally.get({ store: number, generation: last_generation }) ?? {};
    const job = { generation: last_generation, total, processed, at: 0, error: null };
    jobs.set(number, job);
    return job;
  }

  /** Indexes some batches, or all that are left if few; then swaps the generations. */
  async function turn(store: VectorStoreRow): Promise<void> {
    if (!isChanging(store)) return;
    const job = jobOf(store);
    for (let batches = 0; batches < batchesPerTurn || job.total - job.processed <= nearlyDone; batches++) {
      signal.throwIfAborted();
      const chunks = next.all({ store: store.number, generation: job.generation, at: job.at });
      if (chunks.length > 0) await embedChunks(store, job, chunks);
      else if (job.at > 0) job.at = 0;
      else return await swap(store, job);
      if (!isCurrent(store)) return;
    }
  }

  const isCurrent = (store: VectorStoreRow): boolean => {
    const row = queue.store(store);
    return row?.next_model === store.next_model && row.last_generation === store.last_generation;
  };

  async function embedChunks(store: ChangingStore, job: Progress, chunks: readonly PendingChunk[]): Promise<void> {
    const { next_model, next_dimensions: dimensions } = store;
    const texts = chunks.map(({ text }) => text);
    const vectors = await embedders.of(next_model, dimensions, store).embed(texts, signal);
    const tables = { number: store.number, generation: job.generation, dimensions };
    const storedCount = await write(() => {
      if (!isCurrent(store)) return 0;
      createStoreTables(sqlite, tables);
      const markedRows = updateGeneration.all({
        generation: job.generation,
        numbers: JSON.stringify(chunks.map(({ number }) => number)),
      });
      const existingNumbers = new Set(markedRows.map(({ number }) => number)); // The others were deleted meanwhile.
      const rows = chunks.map(({ number }, index) => ({ number, vector: vectors[index] ?? new Float32Array() }));
      addVectors(
        sqlite,
        tables,
        rows.filter(({ number }) => existingNumbers.has(number)),
      );
      return existingNumbers.size;
    });
    failpoint?.("mid_reindexing");
    job.at = chunks.at(-1)?.number ?? job.at;
    job.processed += storedCount;
    job.total = Math.max(job.total, job.processed);
    job.error = null;
  }

  async function swap(store: ChangingStore, job: Progress): Promise<void> {
    const { number } = store;
    const { generation } = job;
    const swapped = await write(() => {
      if (!isCurrent(store) || isLacking.get({ store: number, generation })) return false;
      createStoreTables(sqlite, { number, generation, dimensions: store.next_dimensions });
      return swapping.run({ store: number, generation }).changes > 0;
    });
    if (!swapped) return;
    jobs.delete(number);
    forget(number);
    log.info("a memory store was indexed anew", { memory_id: store.id, model: store.next_model, chunks: job.total });
    collectSoon();
  }

  /** Deletes vectors of former generations in small writes. After a failure the next start continues. */
  function collectSoon(): void {
    collecting = (collecting ?? Promise.resolve()).then(collect).catch((error) => {
      if (!signal.aborted) log.error("old vectors could not be deleted", { error });
    });
  }

  async function collect(): Promise<void> {
    for (const tables of unused.all()) {
      const name = vectorsTable(tables);
      const slice = `DELETE FROM ${name} WHERE rowid IN (SELECT rowid FROM ${name} LIMIT ${rowsPerWrite})`;
      while ((await write(() => sqlite.run(slice).changes)) > 0) await Bun.sleep(pause_ms);
      await write(() => dropVectors(sqlite, tables));
      forget(tables.number);
    }
  }

  return {
    turn,
    collectSoon,
    /** Records that the new embedding failed. The current one stays in use. */
    failed(store: VectorStoreRow, { code, message }: EmbeddingError): void {
      jobOf(store).error = { code, message };
      log.warn("a memory store could not be indexed anew", { memory_id: store.id, error_code: code });
    },
    progressOf(store: VectorStoreRow): Pick<Progress, "processed" | "total" | "error"> | null {
      if (store.next_model === null) return null;
      const { processed, total, error } = jobOf(store);
      return { processed, total, error };
    },
    idle: async (): Promise<void> => void (await collecting),
  };
}
