import type { Database } from "bun:sqlite";
import { firstItem } from "../../lib/collections.ts";
import type { Db } from "../../storage/db/open.ts";

// Most rows that one write deletes, so that the next write waits only milliseconds.
const rowsPerWrite = 200;
/** Fewer per write, because these rows are large. */
const largeRowsPerWrite: Record<string, number> = { file_chunks: 16, webhook_attempts: 50 };
const ownersPerWrite = 50;
const childrenPerWrite = 1000;

/** A table with rows of projects. */
export interface OwnedTable {
  table: string;
  /** Key columns. */
  key: string[];
  /** Tables without a project column, whose rows belong to a row of this table. */
  children: { table: string; key: string[]; column: string; parent: string }[];
}

/**
 * Deletes a project in small writes. Tables are found in the database's schema, so that none is forgotten. Returns true
 * when done; `goOn` may stop it between two writes.
 */
export function createEraser({
  db,
  first = () => 0,
  pause_ms = 5,
}: {
  db: Db;
  /** Deletes data in separate tables and returns the number of rows. Called inside a write. */
  first?: (projectId: string) => number;
  pause_ms?: number;
}) {
  return async function erase(projectId: string, shouldContinue: () => boolean = () => true): Promise<boolean> {
    while (shouldContinue() && (await db.write(() => first(projectId))) > 0) await Bun.sleep(pause_ms);
    for (const owned of ownedTables(db.sqlite)) {
      const step = owned.children.length > 0 ? eraseOwners : eraseRows;
      while (shouldContinue() && (await db.write(() => step(db.sqlite, owned, projectId))) > 0)
        await Bun.sleep(pause_ms);
    }
    if (!shouldContinue()) return false;
    await db.write(() => db.sqlite.query("DELETE FROM projects WHERE id = ?").run(projectId));
    return true;
  };
}

/** Deletes some rows and returns their number. Call inside a write. */
function eraseRows(sqlite: Database, { table, key }: OwnedTable, projectId: string): number {
  const columns = key.join(", ");
  const rows = largeRowsPerWrite[table] ?? rowsPerWrite;
  return sqlite
    .query(
      `DELETE FROM ${table} WHERE (${columns}) IN (SELECT ${columns} FROM ${table} WHERE project_id = ? LIMIT ${rows})`,
    )
    .run(projectId).changes;
}

/** Deletes some rows, their children first; a row with many children is left to the next write. Call inside a write. */
function eraseOwners(sqlite: Database, { table, children }: OwnedTable, projectId: string): number {
  const { parent } = firstItem(children);
  const rows = sqlite
    .query<{ name: string }, [string]>(
      `SELECT ${parent} AS name FROM ${table} WHERE project_id = ? LIMIT ${ownersPerWrite}`,
    )
    .all(projectId);
  const parents = JSON.stringify(rows.map(({ name }) => name));
  let remaining = childrenPerWrite;
  for (const child of children) {
    const columns = child.key.join(", ");
    const { changes } = sqlite
      .query(
        `DELETE FROM ${child.table} WHERE (${columns}) IN (SELECT ${columns} FROM ${child.table}
         WHERE ${child.column} IN (SELECT value FROM json_each(?)) LIMIT ?)`,
      )
      .run(parents, remaining);
    remaining -= changes;
    if (remaining <= 0) return changes;
  }
  return sqlite
    .query(`DELETE FROM ${table} WHERE project_id = ? AND ${parent} IN (SELECT value FROM json_each(?))`)
    .run(projectId, parents).changes;
}

interface Reference {
  table: string;
  column: string;
  target: string;
  target_column: string | null;
}

/** Tables with a `project_id`; referencing tables first, because cascades would delete too much at once. */
export function ownedTables(sqlite: Database): OwnedTable[] {
  const names = sqlite
    .query<{ name: string }, []>(
      "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%'",
    )
    .all()
    .map(({ name }) => name);
  const references = sqlite
    .query<Reference, []>(
      `SELECT t.name AS "table", f."from" AS "column", f."table" AS target, f."to" AS target_column
       FROM pragma_table_list t, pragma_foreign_key_list(t.name) f WHERE t.schema = 'main'`,
    )
    .all();
  const isOwned = (name: string) => columnsOf(sqlite, name).some((column) => column.name === "project_id");
  const owned = names.filter(isOwned).map((table) => ({
    table,
    key: keyOf(sqlite, table),
    children: references
      .filter(({ table: child, target }) => target === table && !isOwned(child))
      .map(({ table, column, target_column }) => ({
        table,
        key: keyOf(sqlite, table),
        column,
        parent: target_column ?? "id",
      })),
  }));
  return inOrder(owned, references);
}

function inOrder(tables: OwnedTable[], references: readonly Reference[]): OwnedTable[] {
  const ordered: OwnedTable[] = [];
  const visit = (owned: OwnedTable): void => {
    if (ordered.includes(owned)) return;
    for (const { table, target } of references)
      if (target === owned.table && table !== target) tables.filter((other) => other.table === table).forEach(visit);
    ordered.push(owned);
  };
  tables.forEach(visit);
  return ordered;
}

interface Column {
  name: string;
  pk: number;
}

const columnsOf = (sqlite: Database, table: string): Column[] =>
  sqlite.query<Column, [string]>("SELECT name, pk FROM pragma_table_info(?)").all(table);

const keyOf = (sqlite: Database, table: string): string[] =>
  columnsOf(sqlite, table)
    .filter(({ pk }) => pk > 0)
    .sort((a, b) => a.pk - b.pk)
    .map(({ name }) => name);
