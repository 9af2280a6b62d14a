import type { Statement } from "bun:sqlite";
import type { Scope } from "../domain/scope.ts";
import type { Db } from "../storage/db/open.ts";

/** Last use of a key: it is written every minute, by any request. */
const ignored = ["last_used_at_ms", "last_used_ip"];

interface Reader {
  all(): string;
  /** Null if the table's rows have no project and environment. */
  scoped: { but(scope: Scope): string; only(scope: Scope): string } | null;
}

/** The rows of each table as a text. */
export type Rows = ReadonlyMap<string, string>;

/** Returns the tables whose rows differ. */
export const changedTables = (before: Rows, after: Rows): string[] =>
  [...new Set([...before.keys(), ...after.keys()])].filter((table) => before.get(table) !== after.get(table));

/** Reads the rows of all tables, to compare them with their later state. */
export function createRows({ sqlite }: Db) {
  // The contents of a virtual table are stored in tables of its own.
  const tables = sqlite.query<{ name: string }, []>(
    `SELECT name FROM sqlite_schema
     WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name`,
  );
  // Stores have tables of their own, so that there are hundreds, and preparing a statement takes longer than reading.
  const readers = new Map<string, Reader>();

  function readerOf(table: string): Reader {
    const known = readers.get(table);
    if (known) return known;
    const columns = sqlite.prepare<{ name: string }, []>(`PRAGMA table_info("${table}")`).all();
    const names = columns.map(({ name }) => name);
    const shown = names.filter((name) => !ignored.includes(name)).map((name) => `"${name}"`);
    const select = `SELECT ${shown.join(", ")} FROM "${table}"`;
    const whole = sqlite.prepare(select);
    const ofScope = (is: string) => {
      const statement = sqlite.prepare(`${select} WHERE (project_id, environment) ${is} (?, ?)`);
      return (scope: Scope) => textOf(statement, scope.project_id, scope.environment);
    };
    const isScoped = names.includes("project_id") && names.includes("environment");
    const scoped = isScoped ? { but: ofScope("IS NOT"), only: ofScope("IS") } : null;
    const reader = { all: () => textOf(whole), scoped };
    readers.set(table, reader);
    return reader;
  }

  // Counters of this connection's writes, of schema changes and of other connections' writes: if all three are
  // unchanged, so are the rows, and they are not read again.
  const writes = ["SELECT total_changes()", "PRAGMA schema_version", "PRAGMA data_version"].map((sql) =>
    sqlite.prepare(sql),
  );
  const read = new Map<string, Rows>();
  let readAt = "";

  function texts(key: string, textOfTable: (reader: Reader) => string | undefined): Rows {
    const now = writes.map((statement) => statement.values()).join();
    if (now !== readAt) read.clear();
    readAt = now;
    const rows = read.get(key) ?? new Map(tables.all().map(({ name }) => [name, textOfTable(readerOf(name)) ?? ""]));
    read.set(key, rows);
    return rows;
  }
  const keyOf = (scope: Scope): string => `${scope.project_id} ${scope.environment}`;

  return {
    /** Returns the rows that are not in this scope; without a scope, every row. */
    but: (scope?: Scope) =>
      texts(`but ${scope && keyOf(scope)}`, ({ all, scoped }) => (scope && scoped ? scoped.but(scope) : all())),
    only: (scope: Scope) => texts(`only ${keyOf(scope)}`, ({ scoped }) => scoped?.only(scope)),
  };
}

function textOf(statement: Statement, ...parameters: string[]): string {
  const rows = statement.values(...parameters);
  for (const row of rows)
    for (const [at, value] of row.entries()) if (value instanceof Uint8Array) row[at] = Bun.hash(value).toString();
  return JSON.stringify(rows);
}
