/** Rows that are read again and again, in memory. What it gives is shared: nobody may change it. */
interface Kept<Key extends string[], Row> {
  /** The row as the database has it. */
  of(...key: Key): Row;
  /** The same where it is in memory; undefined where it would have to be read. */
  known(...key: Key): Row | undefined;
  /** Within a write that says what it touches: the row as it has become. */
  note(row: Row, ...key: Key): void;
  /** Within such a write: the row may have become another one. */
  drop(...key: Key): void;
}

export type Keeper = ReturnType<typeof createKeeper>;

interface Bounds<Row> {
  most?: number;
  /** How much memory a row takes, in bytes, where rows may be long: all of a kind together take `most_bytes`. */
  bytesOf?: (row: Row) => number;
}

const default_most = 10_000;
const most_bytes = 16 * 1024 * 1024;

/**
 * One rule for all that is kept in memory of the database: it is forgotten as soon as anything else might be true. That is
 * when another process has committed, when a write was rolled back, and after every write that does not say that it leaves
 * these rows alone. While such a write is at work, nothing is kept.
 */
export function createKeeper({ dataVersion, beginRead }: { dataVersion(): number; beginRead(): void }) {
  let version = dataVersion();
  let generation = 0;
  let changing = false;

  const forget = (): void => void generation++;

  /**
   * Keeps what `read` gives, as long as it is true. Of more than these bounds allow the older half goes at once: to look for
   * the first one of a map from which many were taken takes longer than to read a row.
   */
  function rows<Key extends string[], Row>(
    read: (...key: Key) => Row,
    { most = default_most, bytesOf = () => 0 }: Bounds<Row> = {},
  ): Kept<Key, Row> {
    let [older, newer] = [new Map<string, Row>(), new Map<string, Row>()];
    let bytes = 0; // Of the newer ones.
    let of = generation;

    function goOn(behind: Map<string, Row>): void {
      [older, newer] = [behind, new Map()];
      bytes = 0;
    }

    function note(row: Row, ...key: Key): void {
      if (changing) return;
      if (of !== generation) goOn(new Map());
      of = generation;
      const own = bytesOf(row);
      if (own > most_bytes / 2) {
        drop(...key);
        return;
      }
      if (newer.size >= most / 2 || bytes + own > most_bytes / 2) goOn(newer);
      newer.set(nameOf(key), row);
      bytes += own;
    }

    function drop(...key: Key): void {
      newer.delete(nameOf(key));
      older.delete(nameOf(key));
    }

    function find(...key: Key): Row | undefined {
      beginRead(); // It looks whether another process has committed.
      if (changing || of !== generation) return undefined;
      const name = nameOf(key);
      const row = newer.get(name);
      return row === undefined ? older.get(name) : row; // Null says of a row that it is not there.
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
    /** To be called at the beginning of every transaction. */
    look(): void {
      const now = dataVersion();
      if (now === version) return;
      version = now;
      forget();
    },
    /** Runs a job that may change any row. */
    change<T>(job: () => T): T {
      changing = true;
      try {
        return job();
      } finally {
        changing = false;
        forget();
      }
    },
  };
}

/**
 * What a client names comes last, so that no two keys have the same name. One alone is its own, whose hash is known; several
 * are added up, since `join` takes six times as long.
 */
const nameOf = (key: readonly string[]): string =>
  key.length === 1 ? key[0]! : key.reduce((name, part) => `${name} ${part}`, "");
