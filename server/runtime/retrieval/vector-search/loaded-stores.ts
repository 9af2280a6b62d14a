import type { Database } from "bun:sqlite";
import { createFactNumbers, type FactNumbers } from "./entry-facts.ts";
import type { Filter } from "./filter.ts";
import { bytesOfRows, Int8Rows } from "./int8-rows.ts";
import { deletedChunks, factsOf } from "./passages.ts";
import { countVectors, type Piece, readPieces } from "./stored-vectors.ts";
import { chunk_size, type StoreTables } from "./tables.ts";
import { deleteVectorCache, readVectorCache, writeVectorCache } from "./vector-cache.ts";

/** Vectors of a store in memory, as of the last refresh. */
export interface LoadedStore {
  readonly rows: Int8Rows;
  readonly bytes: number;
  /** Reads new vectors. Returns false if the store must be loaded again. */
  refresh(): boolean;
  /** Reads scope and metadata of the rows that lack them, and yields in between. */
  loadFacts(): Generator<void, void>;
  /** Returns a test for the rows that a search may see, by tag; null if memory does not suffice for the facts. */
  allowed(order: { scope_id: string; filter: Filter | null }): ((number: number, tag: number) => boolean) | null;
}

export interface LoadedStores {
  /** Returns the store if it is loaded from exactly these tables, else null. */
  get(tables: StoreTables): LoadedStore | null;
  /** Loads a store and yields in between. Returns null if it does not fit into memory. */
  load(tables: StoreTables): Generator<void, LoadedStore | null>;
  /** Drops the store and its cache file; the next load reads all its vectors. */
  forget(storeNumber: number): void;
  /** Call before chunks are deleted: removes the store's cache file. */
  beforeRemove(storeNumber: number, numbers: readonly number[]): void;
}

const pieces_at_once = 64;
const vectors_at_once = pieces_at_once * chunk_size;
/** Share of the memory limit for a store that does not fit, and for the facts of one store's entries. */
const memoryShare = 0.25;
const rows_at_once = 2048;
/** Each large store reserves gigabytes of address space, which is limited per process. */
const most_stores = 128;
/** Smaller stores are read quickly and are not cached on disk. */
const least_kept = 10_000;
/** Share of uncached rows from which the cache is written again. */
const stale = 0.1;
const keep_ms = { loaded: 500, removed: 30_000 };

interface LoadedOptions {
  most_bytes: number;
  /** Folder for caches of large stores; null: none. */
  folder: string | null;
}

/** Keeps the most recently searched stores in memory, up to `most_bytes` in total. */
export function createLoadedStores(sqlite: Database, { most_bytes, folder }: LoadedOptions): LoadedStores {
  // Ordered by use: the first is the least recently used.
  const stores = new Map<number, CachedStore>();
  /** The store being loaded. A search that is given up and repeated continues it instead of starting again. */
  let begun: CachedStore | null = null;
  const keeping = new Map<number, ReturnType<typeof setTimeout>>();

  function makeRoom(needed: number): void {
    let free = most_bytes - needed - (begun?.bytes ?? 0);
    for (const { bytes } of stores.values()) free -= bytes;
    for (const [number, { bytes }] of stores) {
      if (free >= 0 && stores.size < most_stores) return;
      stores.delete(number);
      free += bytes;
    }
  }

  function get(tables: StoreTables): LoadedStore | null {
    const store = stores.get(tables.number);
    stores.delete(tables.number);
    if (!store || !isSame(store.tables, tables)) return null;
    if (bytesOfRows(store.rows.count, tables.dimensions) > most_bytes) return null;
    makeRoom(store.bytes); // It may have grown since.
    stores.set(tables.number, store);
    return store;
  }

  function* load(tables: StoreTables): Generator<void, LoadedStore | null> {
    const expected = countVectors(sqlite, tables);
    const needed = bytesOfRows(expected, tables.dimensions);
    if (needed > most_bytes) return null;
    const before: CachedStore | null = begun;
    begun = null;
    makeRoom(needed);
    const store =
      before && isSame(before.tables, tables) ? before : createStore(sqlite, tables, { expected, most_bytes, folder });
    begun = store;
    while (store.more()) yield;
    if (begun === store) begun = null;
    stores.set(tables.number, store);
    makeRoom(0); // Stores may have loaded or grown meanwhile.
    if (store.rows.count - store.taken() > Math.max(least_kept, stale * store.taken())) keepSoon(store, keep_ms.loaded);
    return store;
  }

  function keepSoon(store: CachedStore, ms: number): void {
    if (folder === null) return;
    const { number } = store.tables;
    clearTimeout(keeping.get(number));
    const keep = () => {
      keeping.delete(number);
      const isWanted = () => stores.get(number) === store;
      if (!isWanted()) return;
      store.drop();
      // A store that cannot be cached is read from the database after a restart.
      void writeVectorCache(folder, store.tables, { ...store.place(), isWanted }).catch(() => {});
    };
    keeping.set(number, setTimeout(keep, ms).unref());
  }

  function forget(storeNumber: number): void {
    stores.delete(storeNumber);
    if (begun?.tables.number === storeNumber) begun = null;
    if (folder !== null) deleteVectorCache(folder, storeNumber);
  }

  function removed(storeNumber: number, numbers: readonly number[]): void {
    if (folder !== null) deleteVectorCache(folder, storeNumber);
    const store = stores.get(storeNumber);
    if (!store) return;
    for (const number of numbers) store.deleted.add(number);
    if (store.rows.count > least_kept) keepSoon(store, keep_ms.removed);
  }

  return { get, load, forget, beforeRemove: removed };
}

type CachedStore = ReturnType<typeof createStore>;

const isSame = (a: StoreTables, b: StoreTables) =>
  a.number === b.number && a.generation === b.generation && a.dimensions === b.dimensions;

function createStore(sqlite: Database, tables: StoreTables, room: LoadedOptions & { expected: number }) {
  const rows = new Int8Rows(tables.dimensions, room.expected);
  let facts: FactNumbers | null = createFactNumbers();
  let last = 0;
  /** Chunk numbers of the last piece, the only one that can grow. */
  let known = new Set<number>();

  function take({ id, vectors }: Piece): void {
    if (id !== last) known = new Set();
    last = id;
    for (const { number, vector } of vectors) {
      if (known.has(number)) continue;
      known.add(number);
      rows.add(number, vector);
    }
  }

  /** Number of rows taken from the cache file. */
  let taken = 0;
  const deleted = new Set<number>();
  const loading = load();

  function* load(): Generator<void, void> {
    if (room.folder !== null) yield* takeKept(room.folder);
    while (more()) yield;
  }

  function* takeKept(folder: string): Generator<void, void> {
    const kept = yield* readVectorCache(folder, tables, rows);
    const [piece] = kept === null ? [] : readPieces(sqlite, tables, kept, 1);
    const same =
      piece?.vectors.map(({ number, vector }) => rows.isOf(number, vector)).filter((is) => is !== null) ?? [];
    // The last piece differs if the cache is from another database state, such as one before a restore.
    if (piece?.id !== kept || same.length === 0 || same.includes(false)) return rows.clear();
    last = piece!.id;
    known = new Set(piece!.vectors.map(({ number }) => number).filter((number) => rows.has(number)));
    taken = rows.count;
  }

  /** Reads the next pieces. Returns false if there are no more. */
  function more(): boolean {
    const pieces = readPieces(sqlite, tables, last, pieces_at_once);
    for (const piece of pieces) take(piece);
    return pieces.length === pieces_at_once;
  }

  function refresh(): boolean {
    const before = last;
    const [first, ...others] = readPieces(sqlite, tables, last, pieces_at_once);
    // If the last piece was deleted, new vectors may be in any earlier piece.
    if (before !== 0 && first?.id !== before) return false;
    for (const piece of first ? [first, ...others] : []) take(piece);
    if (others.length + 1 === pieces_at_once) while (more());
    return true;
  }

  function* loadFacts(): Generator<void, void> {
    while (facts && rows.untagged > 0) {
      const { of } = facts;
      rows.tag(rows_at_once, (numbers) => {
        const found = factsOf(sqlite, numbers);
        return numbers.map((number) => of(found.get(number)));
      });
      if (facts.bytes > memoryShare * room.most_bytes) facts = null;
      yield;
    }
  }

  function allowed(order: Parameters<LoadedStore["allowed"]>[0]) {
    const isAllowed = facts?.allowed(order);
    return isAllowed ? (_: number, tag: number) => isAllowed(tag) : null;
  }

  return {
    tables,
    rows,
    get bytes() {
      return rows.bytes + (facts?.bytes ?? 0);
    },
    /** Loads the next part. Returns false when done. */
    more: () => !loading.next().done,
    taken: () => taken,
    /** Numbers of chunks being deleted, possibly not yet committed. */
    deleted,
    /** Drops rows whose chunks are gone. */
    drop(): void {
      rows.remove(deletedChunks(sqlite, deleted));
      deleted.clear();
    },
    /** The rows, and the last piece that they include. */
    place: () => ({ rows, last }),
    refresh,
    loadFacts,
    allowed,
  };
}

/** Returns the vectors of a store that exceeds the memory limit, part by part in reused memory. */
export function* partsOf(sqlite: Database, tables: StoreTables, most_bytes: number): Generator<Int8Rows> {
  const each = Math.max(1, Math.floor((memoryShare * most_bytes) / bytesOfRows(vectors_at_once, tables.dimensions)));
  const rows = new Int8Rows(tables.dimensions);
  for (let from = 0; ; ) {
    rows.clear();
    for (let read = 0; read < each; read++) {
      const pieces = readPieces(sqlite, tables, from, pieces_at_once);
      for (const { vectors } of pieces) for (const { number, vector } of vectors) rows.add(number, vector);
      if (pieces.length < pieces_at_once) return yield rows;
      from = pieces.at(-1)!.id + 1;
    }
    yield rows;
  }
}
