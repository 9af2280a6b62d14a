import type { SQLQueryBindings } from "bun:sqlite";
import {
  and,
  Column,
  eq,
  getTableColumns,
  getTableName,
  getViewName,
  getViewSelectedFields,
  is,
  type SQL,
  sql,
  Table,
} from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable, SQLiteUpdateSetSource, SQLiteView } from "drizzle-orm/sqlite-core";
import { throwNotFound } from "../../domain/not-found.ts";
import type { Scope } from "../../domain/scope.ts";
import { lazy } from "../../lib/lazy.ts";
import type { Db } from "./open.ts";

export type Relation = (SQLiteTable | SQLiteView) & { $inferSelect: object };

/** A table whose rows belong to a project and an environment and have an id. */
type ScopedTable = SQLiteTable & Record<"project_id" | "environment" | "id", SQLiteColumn>;

type Inserted<T extends SQLiteTable> = {
  [Name in keyof Omit<T["$inferInsert"], keyof Scope>]: T["$inferInsert"][Name] | SQL;
};

/** Returns the columns of a relation by name. */
const columnsIn = (relation: Relation): Record<string, SQLiteColumn> =>
  is(relation, Table) ? getTableColumns(relation) : (getViewSelectedFields(relation) as Record<string, SQLiteColumn>);

/** Returns the SQL name of a relation. */
export const nameOf = (relation: Relation): string =>
  is(relation, Table) ? getTableName(relation) : getViewName(relation);

/** Returns all columns of a relation for a SQL statement, with the relation's alias if it has one. */
export const columnsOf = (relation: Relation, alias?: string): string =>
  Object.keys(columnsIn(relation))
    .map((name) => (alias ? `${alias}.${name}` : name))
    .join(", ");

/**
 * Returns a function that maps a row of a SQL statement as drizzle would: parses JSON, turns 0 and 1 into booleans. It
 * skips the columns that need no mapping, which are most; drizzle calls each column for each row.
 */
export function createReader<R extends Relation>(relation: R) {
  const mapped = Object.entries(columnsIn(relation)).filter(
    ([, column]) => column.mapFromDriverValue !== Column.prototype.mapFromDriverValue,
  );
  return (raw: Record<string, unknown>): R["$inferSelect"] => {
    const row = { ...raw };
    for (const [name, column] of mapped) {
      const value = row[name];
      if (value !== null && value !== undefined) row[name] = column.mapFromDriverValue(value);
    }
    return row as R["$inferSelect"];
  };
}

/**
 * Builds the common statements of a table by id. They read and write only rows of the scope that fulfil `alive`: a row
 * that is missing, foreign or deleted gives the same error.
 */
export function createScopedTable<T extends ScopedTable>({ orm, sqlite }: Db, table: T, alive?: SQL) {
  type Row = T["$inferSelect"];
  const at = (project_id: unknown, environment: unknown, id: unknown) =>
    and(eq(table.project_id, project_id), eq(table.environment, environment), eq(table.id, id), alive);
  const key = at(sql.placeholder("project_id"), sql.placeholder("environment"), sql.placeholder("id"));
  const selection = lazy(() => {
    const { sql: text, params } = orm
      .select()
      .from(table as SQLiteTable)
      .where(key)
      .toSQL();
    const one = sqlite.query<Record<string, unknown>, SQLQueryBindings[]>(text);
    // The first three parameters are the key.
    const ofAlive = params.slice(3) as SQLQueryBindings[];
    return { one, ofAlive, read: createReader(table) };
  });
  const deletion = lazy(() => orm.delete(table).where(key).prepare());

  const get = ({ project_id, environment }: Scope, id: string): Row | null => {
    const { one, ofAlive, read } = selection();
    const row = one.get(project_id, environment, id, ...ofAlive);
    return row && read(row);
  };

  return {
    /** Returns null if there is no such row. */
    get,

    /** Throws if there is no such row. */
    find: (scope: Scope, id: string): Row => get(scope, id) ?? throwNotFound(),

    /** Call it inside a write. */
    insert: ({ project_id, environment }: Scope, values: Inserted<T>): Row =>
      orm
        .insert(table)
        .values({ ...values, project_id, environment } as unknown as T["$inferInsert"])
        .returning()
        .get() as Row,

    /** Updates the given columns and returns the row; undefined values stay unchanged. Call it inside a write. */
    update: ({ project_id, environment }: Scope, id: string, values: SQLiteUpdateSetSource<T>): Row =>
      orm
        .update(table)
        .set(values)
        .where(at(project_id, environment, id))
        .returning()
        .get() as Row,

    /** Call it inside a write. */
    remove: ({ project_id, environment }: Scope, id: string): void =>
      void deletion().run({ project_id, environment, id }),
  };
}
