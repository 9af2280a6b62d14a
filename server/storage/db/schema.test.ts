import { expect, test } from "bun:test";
import { is } from "drizzle-orm";
import { getTableConfig, getViewConfig, type SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import { openDatabase } from "./open.ts";
import * as schema from "./schema.ts";

const db = openDatabase(":memory:");
const tables = Object.values(schema)
  .filter((value) => is(value, SQLiteTable))
  .map(getTableConfig);

test("the types have every table and every column that the migrations create, and no other", () => {
  const migrated = db.sqlite
    .query<{ name: string }, []>(
      "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%'",
    )
    .all();
  expect(tables.map((table) => table.name).sort()).toEqual(migrated.map((table) => table.name).sort());
  for (const table of tables) {
    const columns = db.sqlite
      .query<{ name: string; type: string; notnull: number; pk: number }, []>(`PRAGMA table_info(${table.name})`)
      .all();
    const found = columns.map(
      ({ name, type, notnull, pk }) => `${name} ${type.toLowerCase()} ${notnull || pk ? "not null" : "null"}`,
    );
    const typed = table.columns.map(
      (column) => `${column.name} ${column.getSQLType()} ${column.notNull || column.primary ? "not null" : "null"}`,
    );
    expect({ table: table.name, columns: typed.sort() }).toEqual({ table: table.name, columns: found.sort() });
  }
});

test("the types of columns and their defaults equal those of the migrations", () => {
  for (const table of tables) {
    const columns = db.sqlite.query<{ name: string; dflt_value: string | null }, []>(
      `PRAGMA table_info(${table.name})`,
    );
    const defaults = new Map(columns.all().map(({ name, dflt_value }) => [name, dflt_value]));
    const { sql } = db.sqlite
      .query<{ sql: string }, [string]>("SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?")
      .get(table.name)!;
    for (const column of table.columns) {
      const place = `${table.name}.${column.name}`;
      if (column.default !== undefined)
        expect([place, defaultOf(column.default)]).toEqual([place, defaults.get(column.name)!]);
      const [, words] = new RegExp(`\\b${column.name} IN \\(([^)]*)\\)`).exec(sql) ?? [];
      const allowed = words?.split(",").map((word) => word.trim().slice(1, -1));
      if (allowed && column.enumValues) expect([place, [...column.enumValues].sort()]).toEqual([place, allowed.sort()]);
    }
  }
});

test("the types have every column of a view", () => {
  for (const view of [schema.approvals].map(getViewConfig)) {
    const columns = db.sqlite.query<{ name: string; type: string }, []>(`PRAGMA table_info(${view.name})`).all();
    const typed = Object.values(view.selectedFields as Record<string, SQLiteColumn>);
    expect(typed.map((column) => `${column.name} ${column.getSQLType()}`).sort()).toEqual(
      columns.map(({ name, type }) => `${name} ${type.toLowerCase()}`).sort(),
    );
  }
});

test("every table is STRICT, so that a wrong type is an error", () => {
  const loose = db.sqlite.query(
    "SELECT name FROM pragma_table_list WHERE strict = 0 AND type = 'table' AND schema = 'main' AND name NOT LIKE 'sqlite_%'",
  );
  expect(loose.all()).toEqual([]);
});

/** The default as SQLite has it: it knows no booleans. */
const defaultOf = (value: unknown): string => String(typeof value === "boolean" ? Number(value) : value);
