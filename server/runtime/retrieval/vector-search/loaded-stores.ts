import type { Database } from "bun:sqlite";
import { createFactNumbers, type FactNumbers } from "./entry-facts.ts";
import type { Filter } from "./filter.ts";
import { bytesOfRows, Int8Rows } from "./int8-rows.ts";
import { deletedChunks, factsOf } from "./passages.ts";
import { countVectors, type Piece, readPieces } from "./stored-vectors.ts";
import { chunk_size, type StoreTables } from "./tables.ts";
import { deleteVectorCache, readVectorCache, writeVectorCache } from "./vector-cache.ts";

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
export class LoadedStores {
  readonly #sqlite: Database;
  readonly #options: LoadedOptions;
  /** Ordered by use: the first is the least recently used. */
  readonly #stores = new Map<number, LoadedStore>();
  /** The store being loaded. A search that is given up and repeated continues it instead of starting again. */
  #begun: LoadedStore | null = null;
  readonly #keeping = new Map<number, Timer>();

  constructor(sqlite: Database, options: LoadedOptions) {
    this.#sqlite = sqlite;
    this.#options = options;
  }

  /** Returns the store if it is loaded from exactly these tables, else null. */
  get(tables: StoreTables): LoadedStore | null {
    const store = this.#stores.get(tables.number);
    this.#stores.delete(tables.number);
    if (!store || !isSame(store.tables, tables)) return null;
    if (bytesOfRows(store.rows.count, tables.dimensions) > this.#options.most_bytes) return null;
    this.#makeRoom(store.bytes); // It may have grown since.
    this.#stores.set(tables.number, store);
    return store;
  }

  /** Loads a store and yields in between. Returns null if it does not fit into memory. */
  *load(tables: StoreTables): Generator<void, LoadedStore | null> {
    const expected = countVectors(this.#sqlite, tables);
    const needed = bytesOfRows(expected, tables.dimensions);
    if (needed > this.#options.most_bytes) return null;
    const before = this.#begun;
    this.#begun = null;
    this.#makeRoom(needed);
    const isSameStore = before && isSame(before.tables, tables);
    const store = isSameStore ? before : new LoadedStore(this.#sqlite, tables, { expected, ...this.#options });
    this.#begun = store;
    while (store.more()) yield;
    if (this.#begun === store) this.#begun = null;
    this.#stores.set(tables.number, store);
    this.#makeRoom(0); // Stores may have loaded or grown meanwhile.
    const { rows, taken } = store;
    if (rows.count - taken > Math.max(least_kept, stale * taken)) this.#keepSoon(store, keep_ms.loaded);
    return store;
  }

  /** Drops the store and its cache file; the next load reads all its vectors. */
  forget(storeNumber: number): void {
    this.#stores.delete(storeNumber);
    if (this.#begun?.tables.number === storeNumber) this.#begun = null;
    this.#deleteCache(storeNumber);
  }

  /** Call before chunks are deleted: removes the store's cache file. */
  beforeRemove(storeNumber: number, numbers: readonly number[]): void {
    this.#deleteCache(storeNumber);
    const store = this.#stores.get(storeNumber);
    if (!store) return;
    for (const number of numbers) store.deleted.add(number);
    if (store.rows.count > least_kept) this.#keepSoon(store, keep_ms.removed);
  }

  #deleteCache(storeNumber: number): void {
    if (this.#options.folder !== null) deleteVectorCache(this.#options.folder, storeNumber);
  }

  #makeRoom(needed: number): void {
    let free = this.#options.most_bytes - needed - (this.#begun?.bytes ?? 0);
    for (const { bytes } of this.#stores.values()) free -= bytes;
    for (const [number, { bytes }] of this.#stores) {
      if (free >= 0 && this.#stores.size < most_stores) return;
      this.#stores.delete(number);
      free += bytes;
    }
  }

  #keepSoon(store: LoadedStore, ms: number): void {
    const { folder } = this.#options;
    if (folder === null) return;
    const { number } = store.tables;
    clearTimeout(this.#keeping.get(number));
    const keep = () => {
      this.#keeping.delete(number);
      const isWanted = () => this.#stores.get(number) === store;
      if (!isWanted()) return;
      store.drop();
      const { rows, last } = store;
      // A store that cannot be cached is read from the database after a restart.
      void writeVectorCache(folder, store.tables, { rows, last, isWanted }).catch(() => {});
    };
    this.#keeping.set(number, setTimeout(keep, ms).unref());
  }
}

const isSame = (a: StoreTables, b: StoreTables) =>
  a.number === b.number && a.generation === b.generation && a.dimensions === b.dimensions;

/** Vectors of a store in memory, as of the last refresh. */
export class LoadedStore {
  readonly tables: StoreTables;
  readonly rows: Int8Rows;
  /** Numbers of chunks being deleted, possibly not yet committed. */
  readonly deleted = new Set<number>();
  readonly #sqlite: Database;
  readonly #options: LoadedOptions;
  readonly #loading: Generator<void, void>;
  #facts: FactNumbers | null = createFactNumbers();
  #last = 0;
  /** Chunk numbers of the last piece, the only one that can grow. */
  #known = new Set<number>();
  #taken = 0;

  constructor(sqlite: Database, tables: StoreTables, options: LoadedOptions & { expected: number }) {
    this.#sqlite = sqlite;
    this.tables = tables;
    this.rows = new Int8Rows(tables.dimensions, options.expected);
    this.#options = options;
    this.#loading = this.#load();
  }

  get bytes(): number {
    return this.rows.bytes + (this.#facts?.bytes ?? 0);
  }

  /** Id of the last piece that the rows include. */
  get last(): number {
    return this.#last;
  }

  /** Number of rows taken from the cache file. */
  get taken(): number {
    return this.#taken;
  }

  /** Loads the next part. Returns false when done. */
  more(): boolean {
    return !this.#loading.next().done;
  }

  /** Reads new vectors. Returns false if the store must be loaded again. */
  refresh(): boolean {
    const before = this.#last;
    const pieces = this.#pieces();
    // If the last piece was deleted, new vectors may be in any earlier piece.
    if (before !== 0 && pieces[0]?.id !== before) return false;
    for (const piece of pieces) this.#take(piece);
    if (pieces.length === pieces_at_once) while (this.#takeMore());
    return true;
  }

  /** Reads scope and metadata of the rows that lack them, and yields in between. */
  *loadFacts(): Generator<void, void> {
    while (this.#facts && this.rows.untagged > 0) {
      const { of } = this.#facts;
      this.rows.tag(rows_at_once, (numbers) => {
        const found = factsOf(this.#sqlite, numbers);
        return numbers.map((number) => of(found.get(number)));
      });
      if (this.#facts.bytes > memoryShare * this.#options.most_bytes) this.#facts = null;
      yield;
    }
  }

  /** Returns a test for the rows that a search may see, by tag; null if memory does not suffice for the facts. */
  allowed(order: { scope_id: string; filter: Filter | null }): ((number: number, tag: number) => boolean) | null {
    const isAllowed = this.#facts?.allowed(order);
    return isAllowed ? (_, tag) => isAllowed(tag) : null;
  }

  /** Drops rows whose chunks are gone. */
  drop(): void {
    this.rows.remove(deletedChunks(this.#sqlite, this.deleted));
    this.deleted.clear();
  }

  *#load(): Generator<void, void> {
    if (this.#options.folder !== null) yield* this.#takeKept(this.#options.folder);
    while (this.#takeMore()) yield;
  }

  *#takeKept(folder: string): Generator<void, void> {
    const { rows } = this;
    const kept = yield* readVectorCache(folder, this.tables, rows);
    const [piece] = kept === null ? [] : this.#pieces(kept, 1);
    const same =
      piece?.vectors.map(({ number, vector }) => rows.isOf(number, vector)).filter((is) => is !== null) ?? [];
    // The last piece differs if the cache is from another database state, such as one before a restore.
    if (!piece || piece.id !== kept || same.length === 0 || same.includes(false)) return rows.clear();
    this.#last = piece.id;
    this.#known = new Set(piece.vectors.map(({ number }) => number).filter((number) => rows.has(number)));
    this.#taken = rows.count;
  }

  /** Reads the next pieces. Returns false if there are no more. */
  #takeMore(): boolean {
    const pieces = this.#pieces();
    for (const piece of pieces) this.#take(piece);
    return pieces.length === pieces_at_once;
  }

  #pieces(from = this.#last, most = pieces_at_once): Piece[] {
    return readPieces(this.#sqlite, this.tables, from, most);
  }

  #take({ id, vectors }: Piece): void {
    if (id !== this.#last) this.#known = new Set();
    this.#last = id;
    for (const { number, vector } of vectors) {
      if (this.#known.has(number)) continue;
      this.#known.add(number);
      this.rows.add(number, vector);
    }
  }
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
      const last = pieces.at(-1);
      if (!last || pieces.length < pieces_at_once) return yield rows;
      from = last.id + 1;
    }
    yield rows;
  }
}
