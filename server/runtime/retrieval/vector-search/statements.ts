import type { Database, SQLQueryBindings } from "bun:sqlite";

/** Returns all rows of an uncached statement: statements with table names of a store are too many to cache. */
export function all<Row>(sqlite: Database, sql: string, values: readonly SQLQueryBindings[] = []): Row[] {
  using statement = sqlite.prepare<Row, SQLQueryBindings[]>(sql);
  return statement.all(...values);
}

/** Returns all rows of a statement that is the same for all stores and cached with the connection. */
export function allCached<Row>(sqlite: Database, sql: string, values: readonly SQLQueryBindings[] = []): Row[] {
  return sqlite.query<Row, SQLQueryBindings[]>(sql).all(...values);
}

type Values = Record<string, string | number | Uint8Array>;

/** Runs one statement with the values of each row, by name. */
export function runEach(sqlite: Database, sql: string, rows: readonly Values[]): void {
  if (rows.length === 0) return;
  using statement = sqlite.prepare<unknown, Values>(sql);
  for (const values of rows) statement.run(values);
}
