import type { Database } from "bun:sqlite";
import { isCorrupt } from "./corruption.ts";

const slice_ms = 20;

/** Thrown for corruption in a table or one of its indexes. */
export class CorruptionError extends Error {
  constructor(location: string, cause: unknown) {
    super(`${(cause as Error).message} (${location})`, { cause });
    this.name = "CorruptionError";
  }
}

/**
 * Reads every row of every table and counts every index, so that each of their pages is read; yields the number of rows
 * read after each slice. No transaction outlasts a slice (one index, or one row beyond the time limit), so that a
 * server that writes meanwhile can checkpoint its WAL. Throws `CorruptionError`.
 */
export function* scrub(sqlite: Database, now: () => number = () => performance.now()): Generator<number, void> {
  sqlite.run("PRAGMA cell_size_check = ON");
  let rows = 0;
  for (const table of tablesOf(sqlite)) {
    try {
      for (const read of slicesOf(sqlite, table, now)) {
        rows += read;
        yield rows;
      }
      for (const index of indexesOf(sqlite, table.name)) {
        count(sqlite, table.name, index);
        yield rows;
      }
    } catch (error) {
      if (isCorrupt(error)) throw new CorruptionError(table.name, error);
      throw error;
    }
  }
}

interface Table {
  name: string;
  /** Columns that order the rows. */
  key: string[];
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Lists the tables. A virtual table's content is in its shadow tables. */
function tablesOf(sqlite: Database): Table[] {
  const tables = sqlite
    .query<{ name: string; wr: number }, []>(
      "SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'shadow')",
    )
    .all();
  const columns = sqlite.query<{ name: string }, [string]>(
    "SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk",
  );
  return tables.map(({ name, wr }) => ({
    name,
    key: wr ? columns.all(name).map(({ name }) => quoted(name)) : ["_rowid_"],
  }));
}

/** Reads a table's rows in the order of its key; each slice begins after the last row of the previous one. */
function* slicesOf(sqlite: Database, { name, key }: Table, now: () => number): Generator<number, void> {
  const keyColumns = key.map((column, index) => `${column} AS "place ${index}"`);
  const [all, order] = [`SELECT ${keyColumns.join(", ")}, * FROM ${quoted(name)}`, `ORDER BY ${key.join(", ")}`];
  const from = `${all} WHERE (${key.join(", ")}) > (${key.map(() => "?").join(", ")}) ${order}`;
  for (let last: Value[] | null = null, done = false; !done; ) {
    const sql: string = last === null ? `${all} ${order}` : from;
    const statement = sqlite.prepare<Record<string, Value>, Value[]>(sql);
    const end = now() + slice_ms;
    let read = 0;
    done = true;
    try {
      for (const row of statement.iterate(...(last ?? []))) {
        read++;
        if (now() < end) continue;
        last = key.map((_, index) => row[`place ${index}`] ?? null);
        done = false;
        break;
      }
    } finally {
      statement.finalize();
    }
    yield read;
  }
}

type Value = string | number | bigint | Uint8Array | null;

interface Index {
  name: string;
  sql: string | null;
}

const indexesOf = (sqlite: Database, table: string): Index[] =>
  sqlite.query<Index, [string]>("SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = ?").all(table);

/** Scans a whole index. Two counts, because SQLite answers a single count from the shortest index. */
function count(sqlite: Database, table: string, { name, sql }: Index): void {
  const part = /\)\s*(WHERE\b.*)$/is.exec(sql ?? "")?.[1] ?? "";
  const statement = sqlite.prepare(
    `SELECT count(*), count(*) FROM ${quoted(table)} INDEXED BY ${quoted(name)} ${part}`,
  );
  try {
    statement.get();
  } finally {
    statement.finalize();
  }
}
