/** Cache of rows of one kind. Rows are shared: callers must not modify them. */
export interface CachedRows<Key extends string[], Row> {
  /** Returns the row, from the database if it is not cached. */
  of(...key: Key): Row;
  /** Returns the cached row, or undefined if it would have to be read. */
  known(...key: Key): Row | undefined;
  /** Caches the row's new value. Call it inside a write that declares what it touches. */
  note(row: Row, ...key: Key): void;
  /** Removes a row that may have changed. Call it inside such a write. */
  drop(...key: Key): void;
}

export type RowCache = ReturnType<typeof createRowCache>;

interface Bounds<Row> {
  most?: number;
  /**
   * Returns the memory of a row in bytes, for rows that may be long: all of a kind together take at most `most_bytes`.
   */
  bytesOf?: (row: Row) => number;
}

const default_most = 10_000;
const most_bytes = 16 * 1024 * 1024;

/**
 * Row cache with one invalidation rule: any commit of another process, any rollback, and any write that does not
 * declare that it leaves these rows alone clears it. During such a write nothing is cached.
 */
export function createRowCache({ dataVersion, beginRead }: { dataVersion(): number; beginRead(): void }) {
  let version = dataVersion();
  let generation = 0;
  let isChanging = false;

  const forget = (): void => void generation++;

  /**
   * Caches the results of `read`. Beyond the bounds the older half is dropped at once: finding the first key of a map
   * with many deletions takes longer than reading a row.
   */
  function rows<Key extends string[], Row>(
    read: (...key: Key) => Row,
    { most = default_most, bytesOf = () => 0 }: Bounds<Row> = {},
  ): CachedRows<Key, Row> {
    let [older, newer] = [new Map<string, Row>(), new Map<string, Row>()];
    let bytes = 0; // Bytes of the newer half.
    let rowsGeneration = generation;

    function rotate(previous: Map<string, Row>): void {
      [older, newer] = [previous, new Map()];
      bytes = 0;
    }

    function note(row: Row, ...key: Key): void {
      if (isChanging) return;
      if (rowsGeneration !== generation) rotate(new Map());
      rowsGeneration = generation;
      const row_bytes = bytesOf(row);
      if (row_bytes > most_bytes / 2) {
        drop(...key);
        return;
      }
      if (newer.size >= most / 2 || bytes + row_bytes > most_bytes / 2) rotate(newer);
      newer.set(nameOf(key), row);
      bytes += row_bytes;
    }

    function drop(...key: Key): void {
      newer.delete(nameOf(key));
      older.delete(nameOf(key));
    }

    function find(...key: Key): Row | undefined {
      beginRead(); // Checks whether another process has committed.
      if (isChanging || rowsGeneration !== generation) return undefined;
      const name = nameOf(key);
      const row = newer.get(name);
      return row === undefined ? older.get(name) : row; // Null is cached for a row that does not exist.
    }

    return {
      of(...key) {
        const row = find(...key);
        if (row !== undefined) return row;
        const fresh = read(...key);
        note(fresh, ...key);
        return fresh;
      },
      known: find,
      note,
      drop,
    };
  }

  return {
    rows,
    forget,
    /** Clears the cache if another process has committed. Must be called at the beginning of every transaction. */
    look(): void {
      const now = dataVersion();
      if (now === version) return;
      version = now;
      forget();
    },
    /** Runs a job that may change any row. */
    change<T>(job: () => T): T {
      isChanging = true;
      try {
        return job();
      } finally {
        isChanging = false;
        forget();
      }
    },
  };
}

/**
 * Joins the parts of a key. Parts chosen by clients come last, so that different keys have different names. A single
 * part is used as it is, since its hash is known; several are concatenated, because `join` takes six times as long.
 */
const nameOf = (key: readonly string[]): string =>
  key.length === 1 ? (key[0] ?? "") : key.reduce((name, part) => `${name} ${part}`, "");
