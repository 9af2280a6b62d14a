import type { Database, SQLQueryBindings } from "bun:sqlite";

/** All rows of a statement that is not kept: those that name a store's tables are as many as there are stores. */
export function all<Row>(sqlite: Database, sql: string, values: readonly SQLQueryBindings[] = []): Row[] {
  using statement = sqlite.prepare<Row, SQLQueryBindings[]>(sql);
  return statement.all(...values);
}

/** All rows of a statement that is the same for all stores, and is kept with its connection. */
export function allKept<Row>(sqlite: Database, sql: string, values: readonly SQLQueryBindings[] = []): Row[] {
  return sqlite.query<Row, SQLQueryBindings[]>(sql).all(...values);
}

/** Runs one statement with each of the given values. */
export function runEach(sqlite: Database, sql: string, rows: readonly (readonly SQLQueryBindings[])[]): void {
  if (rows.length === 0) return;
  using statement = sqlite.prepare<unknown, SQLQueryBindings[]>(sql);
  for (const values of rows) statement.run(...values);
}
