import type { Log } from "../../lib/log.ts";
import { sleep } from "../../lib/retry.ts";
import type { SpendGuard } from "../../runtime/models/spend-guard.ts";
import { type Embedder, EmbeddingError } from "../../runtime/retrieval/embeddings/embedder.ts";
import type { Db } from "../../storage/db/open.ts";
import { retryWrite } from "../../storage/db/retry-write.ts";
import { createIndexerBackoff } from "./indexer-backoff.ts";
import { backoffNamesOf, createBatches } from "./indexer-batches.ts";
import type { Documents, Write } from "./indexer-chunks.ts";
import { createGenerations } from "./indexer-generations.ts";
import { createIndexerQueue } from "./indexer-queue.ts";
import { createIndexerScheduler } from "./indexer-scheduler.ts";
import { createWordUpgrade } from "./indexer-words.ts";
import type { EntryRow, StoreRow, VectorStoreRow } from "./row.ts";

interface IndexerOptions {
  db: Db;
  embedders: { of(model: string, dimensions: number, payer?: SpendGuard): Embedder };
  documents: Documents;
  /** Called when a store's vectors were replaced. */
  forget: (storeNumber: number) => void;
  /** Called after a write in which entries of files ended. */
  ended?: () => void;
  /** Called after a write that requests the processing of files. */
  demanded?: () => void;
  log: Log;
  now?: () => number;
  /** Milliseconds before the first retry. */
  pause_ms?: number;
}

/**
 * Makes entries searchable: one batch per store and turn, round-robin over owners. All state is in the database, so
 * unfinished work continues after a restart.
 */
export function createIndexer(options: IndexerOptions) {
  const { db, embedders, documents, forget, ended = () => {}, demanded = () => {}, log } = options;
  const { now = Date.now, pause_ms = 1000 } = options;
  const closing = new AbortController();
  const { signal } = closing;
  const write: Write = (job) => retryWrite(db.write, job, signal, pause_ms);
  const queue = createIndexerQueue({ db, now });
  const rests = createIndexerBackoff({ now, pause_ms });
  const generations = createGenerations({ db, embedders, queue, write, forget, signal, log });
  const words = createWordUpgrade({ db, write, signal, log });
  const batches = createBatches({
    db,
    embedders,
    documents,
    queue,
    rests,
    write,
    signal,
    over,
    demanded,
    log,
    now,
    pause_ms,
  });
  const turns = createIndexerScheduler({ queue, rests, turn });
  const waitersById = new Map<string, Set<() => void>>();

  async function turn(store: VectorStoreRow): Promise<void> {
    try {
      await work(store);
    } catch (error) {
      if (signal.aborted) return;
      log.error("memory could not be indexed", { memory_id: store.id, error });
      rests.fail(store.id);
    }
  }

  /** Indexes a batch of entries, and a larger one of the next generation, so that it completes. */
  async function work(store: VectorStoreRow): Promise<void> {
    const before = turns.wakes();
    const entriesRestUntil = rests.nextOfEntries(); // Read before the entries, which exclude those in backoff.
    const hasIndexed = backoffNamesOf(store).some(rests.has) ? false : await batches.workOn(store);
    const changed = store.next_model === null ? false : await change(store);
    if (hasIndexed || changed) return rests.clear(store.id);
    if (before !== turns.wakes()) return;
    // Nothing can be done until a backoff ends or new work arrives.
    const ends = backoffNamesOf(store).filter(rests.has).map(rests.end);
    rests.until(store.id, ends.length > 0 ? Math.max(...ends) : entriesRestUntil);
  }

  async function change(store: VectorStoreRow): Promise<boolean> {
    // By model: a replacement is tried at once, however long the previous model failed.
    const name = `change:${store.id}:${store.next_model}`;
    if (rests.has(name)) return false;
    try {
      await generations.turn(store);
      rests.clear(name);
      return true;
    } catch (error) {
      if (signal.aborted || !(error instanceof EmbeddingError)) throw error;
      generations.failed(store, error);
      rests.fail(name);
      return false;
    }
  }

  /** Notifies waiters of these entries. Call after the commit. */
  function over(entries: readonly EntryRow[]): void {
    for (const { id } of entries) for (const resume of waitersById.get(id) ?? []) resume();
    if (entries.some(({ file_id }) => file_id !== null)) ended();
  }

  return {
    /** Call after a commit with something to index. */
    wake: turns.wake,
    /** Call when a store's embedding was changed or reverted. */
    changed(): void {
      turns.wake();
      generations.collectSoon();
    },
    /** Resolves when the entry is ready or failed, or after `ms`. */
    async settled(entryId: string, ms: number): Promise<void> {
      const over = new AbortController();
      const go = () => over.abort();
      waitersById.set(entryId, (waitersById.get(entryId) ?? new Set()).add(go));
      signal.addEventListener("abort", go);
      await sleep(ms, over.signal);
      signal.removeEventListener("abort", go);
      const others = waitersById.get(entryId);
      if (others?.delete(go) && others.size === 0) waitersById.delete(entryId);
    },
    /** Progress and error of a store's new embedding. */
    progressOf: (store: StoreRow) => generations.progressOf(store as VectorStoreRow),
    /** Resumes what an earlier process left. */
    start(): void {
      turns.schedule();
      generations.collectSoon();
      words.start();
    },
    /** For tests: resolves when all remaining work is in backoff. */
    async idle(): Promise<void> {
      await turns.idle();
      await generations.idle();
      await words.idle();
    },
    /** Aborts current work; the next start resumes it. */
    async stop(): Promise<void> {
      closing.abort();
      await turns.stop();
      await generations.idle();
      await words.idle();
    },
  };
}
