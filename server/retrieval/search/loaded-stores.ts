import type { Database } from "bun:sqlite";
import { createFactNumbers, type FactNumbers } from "./entry-facts.ts";
import type { Filter } from "./filter.ts";
import { bytesOfRows, createInt8Rows, type Int8Rows } from "./int8-rows.ts";
import { forgetKept, keepRows, readKept } from "./kept-rows.ts";
import { factsOf, goneOf } from "./passages.ts";
import { countVectors, type Piece, readPieces } from "./stored-vectors.ts";
import { chunk_size, type StoreTables } from "./tables.ts";

/** A store's vectors in memory, as they stood when they were last refreshed. */
export interface LoadedStore {
  readonly rows: Int8Rows;
  readonly bytes: number;
  /** Reads what is new; false when it cannot tell, and the store must be loaded again. */
  refresh(): boolean;
  /** Reads whose the vectors are and their metadata, where that is not known yet, and yields in between. */
  learn(): Generator<void, void>;
  /** The rows that an order may see, by their tags; null when there is no room to remember that. */
  allowed(order: { scope_id: string; filter: Filter | null }): ((number: number, tag: number) => boolean) | null;
}

export interface LoadedStores {
  /** The store if it is loaded with these very tables. */
  get(tables: StoreTables): LoadedStore | null;
  /** Loads a store and yields in between; null for one that has no room in memory. */
  load(tables: StoreTables): Generator<void, LoadedStore | null>;
  /** What it was loaded from goes: the next load reads it all. */
  forget(storeNumber: number): void;
  /** Chunks of a store are about to be deleted: nothing of them stays on the disk. */
  removed(storeNumber: number, numbers: readonly number[]): void;
}

const pieces_at_once = 64;
const vectors_at_once = pieces_at_once * chunk_size;
/** Of the memory, for a store that has no room in it, and for what is known of one store's entries. */
const part = 0.25;
const rows_at_once = 2048;
/** Each large one reserves gigabytes of addresses, and a process has only so many. */
const most_stores = 128;
/** Rows that are read again within a blink are not kept on the disk. */
const least_kept = 10_000;
/** Kept anew when so much of a store was not. */
const stale = 0.1;
const keep_ms = { loaded: 500, removed: 30_000 };

interface LoadedOptions {
  most_bytes: number;
  /** Where large stores are kept for the next start; null: nowhere. */
  folder: string | null;
}

/** Keeps the stores that were searched last, as long as they come to `most_bytes` together. */
export function createLoadedStores(sqlite: Database, { most_bytes, folder }: LoadedOptions): LoadedStores {
  // The order is the one of their use: the first has not been used for longest.
  const stores = new Map<number, KeptStore>();
  /** The last one that began to load, until it is whole: who gives a search up and asks again does not begin again. */
  let begun: KeptStore | null = null;
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
    const before: KeptStore | null = begun;
    begun = null;
    makeRoom(needed);
    const store =
      before && isSame(before.tables, tables) ? before : createStore(sqlite, tables, { expected, most_bytes, folder });
    begun = store;
    while (store.more()) yield;
    if (begun === store) begun = null;
    stores.set(tables.number, store);
    makeRoom(0); // What loaded meanwhile, and what has grown.
    if (store.rows.count - store.taken() > Math.max(least_kept, stale * store.taken())) keepSoon(store, keep_ms.loaded);
    return store;
  }

  function keepSoon(store: KeptStore, ms: number): void {
    if (folder === null) return;
    const { number } = store.tables;
    clearTimeout(keeping.get(number));
    const keep = () => {
      keeping.delete(number);
      const isWanted = () => stores.get(number) === store;
      if (!isWanted()) return;
      store.drop();
      // What cannot be kept is made again at the next start.
      void keepRows(folder, store.tables, { ...store.place(), isWanted }).catch(() => {});
    };
    keeping.set(number, setTimeout(keep, ms).unref());
  }

  function forget(storeNumber: number): void {
    stores.delete(storeNumber);
    if (begun?.tables.number === storeNumber) begun = null;
    if (folder !== null) forgetKept(folder, storeNumber);
  }

  function removed(storeNumber: number, numbers: readonly number[]): void {
    if (folder !== null) forgetKept(folder, storeNumber);
    const store = stores.get(storeNumber);
    if (!store) return;
    for (const number of numbers) store.deleted.add(number);
    if (store.rows.count > least_kept) keepSoon(store, keep_ms.removed);
  }

  return { get, load, forget, removed };
}

type KeptStore = ReturnType<typeof createStore>;

const isSame = (a: StoreTables, b: StoreTables) =>
  a.number === b.number && a.generation === b.generation && a.dimensions === b.dimensions;

function createStore(sqlite: Database, tables: StoreTables, room: LoadedOptions & { expected: number }) {
  const rows = createInt8Rows(tables.dimensions, room.expected);
  let facts: FactNumbers | null = createFactNumbers();
  let last = 0;
  /** What is known of the last piece, the only one that can get more. */
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

  /** How many rows were kept by an earlier start. */
  let taken = 0;
  const deleted = new Set<number>();
  const loading = load();

  function* load(): Generator<void, void> {
    if (room.folder !== null) yield* takeKept(room.folder);
    while (more()) yield;
  }

  function* takeKept(folder: string): Generator<void, void> {
    const kept = yield* readKept(folder, tables, rows);
    const [piece] = kept === null ? [] : readPieces(sqlite, tables, kept, 1);
    const same =
      piece?.vectors.map(({ number, vector }) => rows.isOf(number, vector)).filter((is) => is !== null) ?? [];
    // Of another database, such as one from before a restore, the last piece differs.
    if (piece?.id !== kept || same.length === 0 || same.includes(false)) return rows.clear();
    last = piece!.id;
    known = new Set(piece!.vectors.map(({ number }) => number).filter((number) => rows.has(number)));
    taken = rows.count;
  }

  /** Reads some pieces; false when there are no more. */
  function more(): boolean {
    const pieces = readPieces(sqlite, tables, last, pieces_at_once);
    for (const piece of pieces) take(piece);
    return pieces.length === pieces_at_once;
  }

  function refresh(): boolean {
    const before = last;
    const [first, ...others] = readPieces(sqlite, tables, last, pieces_at_once);
    // Without the piece that was the last one, new vectors may have gone into any before it.
    if (before !== 0 && first?.id !== before) return false;
    for (const piece of first ? [first, ...others] : []) take(piece);
    if (others.length + 1 === pieces_at_once) while (more());
    return true;
  }

  function* learn(): Generator<void, void> {
    while (facts && rows.untagged > 0) {
      const { of } = facts;
      rows.tag(rows_at_once, (numbers) => {
        const found = factsOf(sqlite, numbers);
        return numbers.map((number) => of(found.get(number)));
      });
      if (facts.bytes > part * room.most_bytes) facts = null;
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
    /** Loads some more; false when that was all. */
    more: () => !loading.next().done,
    taken: () => taken,
    /** Numbers of chunks that somebody deletes, and may not have committed that yet. */
    deleted,
    /** Drops the rows of those that are gone. */
    drop(): void {
      rows.remove(goneOf(sqlite, deleted));
      deleted.clear();
    },
    /** The rows as they stand, and the piece that they go up to. */
    place: () => ({ rows, last }),
    refresh,
    learn,
    allowed,
  };
}

/** The vectors of a store that is too large for the memory, part by part in the same room. */
export function* partsOf(sqlite: Database, tables: StoreTables, most_bytes: number): Generator<Int8Rows> {
  const each = Math.max(1, Math.floor((part * most_bytes) / bytesOfRows(vectors_at_once, tables.dimensions)));
  const rows = createInt8Rows(tables.dimensions);
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
