import { type Environment, nameOf } from "../core/scope.ts";
import type { Db } from "../db/open.ts";
import { persist } from "../db/persist.ts";
import { failpoint } from "../lib/failpoint.ts";
import { createFairPlaces, type FairPlaces } from "../lib/fair/places.ts";
import type { Log } from "../lib/log.ts";
import { sleep } from "../lib/retry.ts";
import { type Embedder, EmbeddingError } from "../retrieval/embed/embedder.ts";
import { addVectors, addWords } from "../retrieval/search/tables.ts";
import { createEntryWork, type EntryWork, type PendingChunk } from "./entry-work.ts";
import { createChunkMaker, type Documents, type EntryError, type Write } from "./indexer-chunks.ts";
import { createGenerations } from "./indexer-generations.ts";
import { createIndexerQueue } from "./indexer-queue.ts";
import { createRests } from "./indexer-rests.ts";
import type { EntryRow, StoreRow, VectorStoreRow } from "./row.ts";

export interface IndexerOptions {
  db: Db;
  embedders: { of(model: string, dimensions: number, owner?: string): Embedder };
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

/** Some chunks of an entry. */
interface Part {
  one: EntryWork;
  chunks: PendingChunk[];
}

// Stores at once: four of one owner, and two of others.
const inAll = { count: 6, reserve: 2 };
// So that one model that is slow, or never answers, leaves places to the others.
const perModel = { count: 4, reserve: 2 };
const entriesPerTurn = 16;
const chunksPerTurn = 32;
// An entry that a model cannot be asked for, for so long and so often, has failed.
const patience_ms = 24 * 3_600_000;
const manyFailures = 10;
// A text that fails with others is tried alone from then on.
const suspectFrom = 3;

/**
 * Makes entries searchable: a turn for each store with something to do, an owner after the other, and in it one batch.
 * It knows nothing that does not stand in the database: what was begun and did not end goes on with the next start.
 */
export function createIndexer(options: IndexerOptions) {
  const { db, embedders, documents, forget, ended = () => {}, demanded = () => {}, log } = options;
  const { now = Date.now, pause_ms = 1000 } = options;
  const { sqlite } = db;
  const work = createEntryWork({ db, now });
  const queue = createIndexerQueue({ db, now });
  const counting = sqlite.query<{ n: number }, [string, Environment, string]>(
    "SELECT count(*) AS n FROM memory_chunks WHERE project_id = ? AND environment = ? AND entry_id = ?",
  );
  const count = ({ project_id, environment, id }: EntryRow) => counting.get(project_id, environment, id)!.n;
  const maker = createChunkMaker({ work, count, documents });
  const closing = new AbortController();
  const { signal } = closing;
  const write: Write = (job) => persist(db.write, job, signal, pause_ms);
  const rests = createRests({ now, pause_ms });
  const generations = createGenerations({ db, embedders, queue, write, forget, signal, log });
  const busy = new Map<string, Promise<void>>();
  const places = createFairPlaces(inAll);
  const placesByModel = new Map<string, FairPlaces>();
  const waiting = new Map<string, Set<() => void>>();
  const lastOf = new Map<string, string>();
  let isRunning = true;
  let scheduled = false;
  let wakes = 0;
  let timer: Timer | undefined;

  /** To be called after a commit that has something to index. */
  function wake(): void {
    wakes++;
    rests.wake();
    schedule();
  }

  function schedule(): void {
    if (scheduled || !isRunning) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      pump();
    });
  }

  function pump(): void {
    if (!isRunning) return;
    clearTimeout(timer);
    const owners = Map.groupBy(queue.stores(), nameOf);
    for (let store = choose(owners); store; store = choose(owners)) begin(store);
    timer = setTimeout(wake, rests.next_ms());
    timer.unref();
  }

  /** The next store of the next owner; who has none that can begin is left out from then on. */
  function choose(owners: Map<string, StoreKeys[]>): VectorStoreRow | null {
    for (let owner = places.next(owners.keys()); owner !== null; owner = places.next(owners.keys())) {
      for (const key of after(owners.get(owner)!, lastOf.get(owner) ?? "", ({ id }) => id)) {
        const store = busy.has(key.id) || rests.has(key.id) ? null : queue.store(key);
        if (!store || !placesOf(store).mayTake(owner)) continue;
        lastOf.set(owner, key.id);
        return store;
      }
      owners.delete(owner);
    }
    return null;
  }

  function placesOf({ next_model, model }: VectorStoreRow): FairPlaces {
    const name = next_model ?? model;
    const known = placesByModel.get(name) ?? createFairPlaces(perModel);
    placesByModel.set(name, known);
    return known;
  }

  function begin(store: VectorStoreRow): void {
    const owner = nameOf(store);
    const taken = [places.take(owner), placesOf(store).take(owner)];
    const done = turn(store)
      .catch(async (error) => {
        if (signal.aborted) return;
        log.error("memory could not be indexed", { memory_id: store.id, error });
        rests.fail(store.id);
      })
      .finally(() => {
        busy.delete(store.id);
        for (const giveBack of taken) giveBack();
        schedule();
      });
    busy.set(store.id, done);
  }

  /** A batch of a store's entries, and a larger one of its next generation: so that one comes to an end. */
  async function turn(store: VectorStoreRow): Promise<void> {
    const before = wakes;
    const entriesRestUntil = rests.nextOfEntries(); // Before they are read: one that rests now is not among them.
    const worked = rests.has(`model:${store.model}`) ? false : await workOn(store);
    const changed = store.next_model === null ? false : await change(store);
    if (worked || changed) return rests.clear(store.id);
    if (before !== wakes) return;
    // Nothing can be done now: until a rest is over, or somebody wakes us.
    rests.until(store.id, rests.has(`model:${store.model}`) ? rests.end(`model:${store.model}`) : entriesRestUntil);
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

  async function workOn(store: VectorStoreRow): Promise<boolean> {
    const entries = queue.entries(store, rests.names(), entriesPerTurn);
    if (entries.length === 0) return false;
    await makeChunks(entries.filter(({ total }) => total === null).map((entry) => ({ entry, store })));
    const parts = collect(store, entries);
    if (parts.length > 0) await index(store, parts);
    return true;
  }

  /** All short texts, or one long one: whoever waits for a short one does not wait for a book. */
  async function makeChunks(fresh: readonly EntryWork[]): Promise<void> {
    if (fresh.length === 0) return;
    const made = await write(() => fresh.filter((one) => maker.makeShort(one)));
    const long = fresh.find((one) => !made.includes(one));
    if (!long) return;
    const fault = await maker.makeLong(long, write);
    if (fault === "later") {
      demanded();
      rests.until(long.entry.id, now() + pause_ms);
    } else if (fault) await fail(long, fault);
  }

  /** Chunks without a vector, of as many entries as fit into one batch. */
  function collect(store: VectorStoreRow, entries: readonly EntryRow[]): Part[] {
    const parts: Part[] = [];
    let left = chunksPerTurn;
    for (const entry of entries) {
      const one = left > 0 ? work.find(entry) : null;
      if (!one || one.entry.total === null) continue;
      const chunks = work.pendingChunks(entry, store.generation, left);
      left -= chunks.length;
      parts.push({ one, chunks });
    }
    return parts;
  }

  async function index(store: VectorStoreRow, parts: readonly Part[]): Promise<void> {
    const { model, dimensions } = store;
    try {
      const texts = parts.flatMap(({ chunks }) => chunks.map(({ text }) => text));
      const vectors = texts.length > 0 ? await embedders.of(model, dimensions, nameOf(store)).embed(texts, signal) : [];
      await record(store, parts, vectors);
      for (const { one } of parts) rests.clear(one.entry.id);
      rests.clear(`model:${model}`);
    } catch (error) {
      signal.throwIfAborted();
      const fault = faultOf(error);
      if (!fault) throw error;
      const isSuspect = !fault.retryable || parts.some(({ one }) => rests.failures(one.entry.id) >= suspectFrom);
      if (parts.length > 1 && isSuspect) for (const part of parts) await index(store, [part]);
      else await refused(store, parts, fault);
    }
  }

  async function refused(store: VectorStoreRow, parts: readonly Part[], fault: EmbeddingError): Promise<void> {
    const { code, message } = fault;
    if (fault.retryable) {
      rests.fail(`model:${store.model}`);
      await write(() => {
        for (const { one } of parts) work.noteFault(one.entry, { code, message });
      });
      log.warn("an embedding model could not be asked", { model: store.model, error_code: code });
    }
    for (const { one } of parts) {
      const failures = rests.fail(one.entry.id);
      const isHopeless = failures >= manyFailures && now() - one.entry.updated_at_ms > patience_ms;
      if (!fault.retryable || isHopeless) await fail(one, { code, message });
    }
  }

  /** One write for the vectors, the words, and how far that is. */
  async function record(store: VectorStoreRow, parts: readonly Part[], vectors: readonly Float32Array[]) {
    const done = await write(() => {
      // Its embedding was changed meanwhile: these vectors are none of what is searched now.
      if (queue.store(store)?.generation !== store.generation) return [];
      let at = 0;
      return parts.flatMap(({ one, chunks }) => {
        const own = vectors.slice(at, at + chunks.length);
        at += chunks.length;
        return recordPart(one, chunks, own) ? [one.entry] : [];
      });
    });
    failpoint?.("mid_indexing");
    tell(done);
  }

  /** Within a write: whether the entry is done. */
  function recordPart(
    { entry }: EntryWork,
    chunks: readonly PendingChunk[],
    vectors: readonly Float32Array[],
  ): boolean {
    const found = work.find(entry);
    if (!found) return false;
    const { number, generation, dimensions } = found.store;
    const rows = chunks.map((chunk, index) => ({ number: chunk.number, vector: vectors[index]! }));
    addVectors(sqlite, { number, generation, dimensions }, rows);
    addWords(sqlite, number, chunks);
    const numbers = rows.map((row) => row.number);
    work.noteVectors(numbers, generation);
    work.noteProgress(entry, numbers.length);
    if (work.pendingChunks(entry, generation, 1).length > 0) return false;
    work.markReady(entry);
    settleFile(entry);
    return true;
  }

  async function fail({ entry }: EntryWork, error: EntryError): Promise<void> {
    await write(() => {
      if (work.markFailed(entry, error)) settleFile(entry);
    });
    rests.clear(entry.id);
    log.warn("a memory entry failed", { memory_entry_id: entry.id, error_code: error.code });
    tell([entry]);
  }

  function settleFile(entry: EntryRow): void {
    if (entry.file_id !== null) documents.settle(entry, entry.file_id);
  }

  /** After the commit: those who wait for these entries go on. */
  function tell(entries: readonly EntryRow[]): void {
    for (const { id } of entries) for (const go of waiting.get(id) ?? []) go();
    if (entries.some(({ file_id }) => file_id !== null)) ended();
  }

  return {
    wake,
    /** To be called when a store got another embedding, or went back to its own. */
    changed(): void {
      wake();
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
      schedule();
      generations.collectSoon();
    },
    /** For tests: answers when nothing is left to do but to wait. */
    async idle(): Promise<void> {
      while (scheduled || busy.size > 0) await Promise.all(busy.values()).then(() => Bun.sleep(0));
      await generations.idle();
    },
    /** Gives up what is under way: the next start takes it up. */
    async stop(): Promise<void> {
      isRunning = false;
      clearTimeout(timer);
      closing.abort();
      await Promise.all(busy.values());
      await generations.idle();
    },
  };
}

type StoreKeys = Pick<StoreRow, "project_id" | "environment" | "id">;

/** All of a sorted list, beginning with what follows a value. */
function after<T>(items: readonly T[], value: string, key: (item: T) => string): T[] {
  const at = items.findIndex((item) => key(item) > value);
  return at < 0 ? [...items] : [...items.slice(at), ...items.slice(0, at)];
}

/** Null for what is a fault of ours. A vector that cannot be kept is the model's. */
function faultOf(error: unknown): EmbeddingError | null {
  if (error instanceof EmbeddingError) return error;
  return error instanceof RangeError ? new EmbeddingError("embedding_failed", error.message) : null;
}
