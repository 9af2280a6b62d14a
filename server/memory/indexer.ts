import type { Db } from "../db/open.ts";
import { persist } from "../db/persist.ts";
import type { Log } from "../lib/log.ts";
import { sleep } from "../lib/retry.ts";
import type { Payer } from "../models/payer.ts";
import { type Embedder, EmbeddingError } from "../retrieval/embed/embedder.ts";
import { createBatches, restsOf } from "./indexer-batches.ts";
import type { Documents, Write } from "./indexer-chunks.ts";
import { createGenerations } from "./indexer-generations.ts";
import { createIndexerQueue } from "./indexer-queue.ts";
import { createRests } from "./indexer-rests.ts";
import { createTurns } from "./indexer-turns.ts";
import { createWordUpgrade } from "./indexer-words.ts";
import type { EntryRow, StoreRow, VectorStoreRow } from "./row.ts";

export interface IndexerOptions {
  db: Db;
  embedders: { of(model: string, dimensions: number, payer?: Payer): Embedder };
  documents: Documents;
  /** The vectors of a store are others now. */
  forget: (storeNumber: number) => void;
  /** After a write in which entries of files ended. */
  ended?: () => void;
  /** After a write that demands files. */
  demanded?: () => void;
  log: Log;
  now?: () => number;
  /** Before what failed is tried again, the first time. */
  pause_ms?: number;
}

/**
 * Makes entries searchable: a turn for each store with something to do, an owner after the other, and in it one batch.
 * It knows nothing that does not stand in the database: what was begun and did not end goes on with the next start.
 */
export function createIndexer(options: IndexerOptions) {
  const { db, embedders, documents, forget, ended = () => {}, demanded = () => {}, log } = options;
  const { now = Date.now, pause_ms = 1000 } = options;
  const closing = new AbortController();
  const { signal } = closing;
  const write: Write = (job) => persist(db.write, job, signal, pause_ms);
  const queue = createIndexerQueue({ db, now });
  const rests = createRests({ now, pause_ms });
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
  const turns = createTurns({ queue, rests, turn });
  const waiting = new Map<string, Set<() => void>>();

  async function turn(store: VectorStoreRow): Promise<void> {
    try {
      await work(store);
    } catch (error) {
      if (signal.aborted) return;
      log.error("memory could not be indexed", { memory_id: store.id, error });
      rests.fail(store.id);
    }
  }

  /** A batch of a store's entries, and a larger one of its next generation: so that one comes to an end. */
  async function work(store: VectorStoreRow): Promise<void> {
    const before = turns.wakes();
    const entriesRestUntil = rests.nextOfEntries(); // Before they are read: one that rests now is not among them.
    const worked = restsOf(store).some(rests.has) ? false : await batches.workOn(store);
    const changed = store.next_model === null ? false : await change(store);
    if (worked || changed) return rests.clear(store.id);
    if (before !== turns.wakes()) return;
    // Nothing can be done now: until a rest is over, or somebody wakes us.
    const ends = restsOf(store).filter(rests.has).map(rests.end);
    rests.until(store.id, ends.length > 0 ? Math.max(...ends) : entriesRestUntil);
  }

  async function change(store: VectorStoreRow): Promise<boolean> {
    // By its model: another one that takes its place is tried at once, however long the one before it has failed.
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

  /** After the commit: those who wait for these entries go on. */
  function over(entries: readonly EntryRow[]): void {
    for (const { id } of entries) for (const go of waiting.get(id) ?? []) go();
    if (entries.some(({ file_id }) => file_id !== null)) ended();
  }

  return {
    /** To be called after a commit that has something to index. */
    wake: turns.wake,
    /** To be called when a store got another embedding, or went back to its own. */
    changed(): void {
      turns.wake();
      generations.collectSoon();
    },
    /** Settles when an entry is ready or failed, or after this time. */
    async settled(entryId: string, ms: number): Promise<void> {
      const over = new AbortController();
      const go = () => over.abort();
      waiting.set(entryId, (waiting.get(entryId) ?? new Set()).add(go));
      signal.addEventListener("abort", go);
      await sleep(ms, over.signal);
      signal.removeEventListener("abort", go);
      const others = waiting.get(entryId);
      if (others?.delete(go) && others.size === 0) waiting.delete(entryId);
    },
    /** How far a store is with its new embedding, and what went wrong with it. */
    progressOf: (store: StoreRow) => generations.progressOf(store as VectorStoreRow),
    /** Takes up what an earlier process left. */
    start(): void {
      turns.schedule();
      generations.collectSoon();
      words.start();
    },
    /** For tests: answers when nothing is left to do but to wait. */
    async idle(): Promise<void> {
      await turns.idle();
      await generations.idle();
      await words.idle();
    },
    /** Gives up what is under way: the next start takes it up. */
    async stop(): Promise<void> {
      closing.abort();
      await turns.stop();
      await generations.idle();
      await words.idle();
    },
  };
}
