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
import { missing } from "../core/not-found.ts";
import type { Scope } from "../core/scope.ts";
import { lazy } from "../lib/lazy.ts";
import type { Db } from "./open.ts";

/** A table or a view of the schema. */
export type Relation = (SQLiteTable | SQLiteView) & { $inferSelect: object };

/** A table of what belongs to a project and an environment, each row by its id. */
type ScopedTable = SQLiteTable & Record<"project_id" | "environment" | "id", SQLiteColumn>;

type Inserted<T extends SQLiteTable> = {
  [Name in keyof Omit<T["$inferInsert"], keyof Scope>]: T["$inferInsert"][Name] | SQL;
};

/** The columns of a relation by name. */
const columnsIn = (relation: Relation): Record<string, SQLiteColumn> =>
  is(relation, Table) ? getTableColumns(relation) : (getViewSelectedFields(relation) as Record<string, SQLiteColumn>);

/** The name of a relation in SQL. */
export const nameOf = (relation: Relation): string =>
  is(relation, Table) ? getTableName(relation) : getViewName(relation);

/** All columns of a relation, for a statement in SQL; with the alias that the statement gives it, if any. */
export const columnsOf = (relation: Relation, alias?: string): string =>
  Object.keys(columnsIn(relation))
    .map((name) => (alias ? `${alias}.${name}` : name))
    .join(", ");

/**
 * What a statement in SQL has read, as drizzle would give it: JSON is parsed, and 0 and 1 are booleans. Columns that are
 * as they were read, which most are, cost nothing; drizzle asks each of them, at each row.
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
 * The ordinary statements of a table by id. Nothing is read or written outside of the scope, nor where `alive` does not
 * hold: what is not there, belongs to somebody else or is gone is refused in the same words.
 */
export function createRows<T extends ScopedTable>({ orm, sqlite }: Pick<Db, "orm" | "sqlite">, table: T, alive?: SQL) {
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
    // Behind the three of the key.
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
    /** Null for what is not there. */
    get,

    /** Throws for what is not there. */
    find: (scope: Scope, id: string): Row => get(scope, id) ?? missing(),

    /** Within a write. */
    insert: ({ project_id, environment }: Scope, values: Inserted<T>): Row =>
      orm
        .insert(table)
        .values({ ...values, project_id, environment } as unknown as T["$inferInsert"])
        .returning()
        .get() as Row,

    /** Within a write: what is undefined stays as it is. Gives the row as it is now. */
    update: ({ project_id, environment }: Scope, id: string, values: SQLiteUpdateSetSource<T>): Row =>
      orm
        .update(table)
        .set(values)
        .where(at(project_id, environment, id))
        .returning()
        .get() as Row,

    /** Within a write. */
    remove: ({ project_id, environment }: Scope, id: string): void =>
      void deletion().run({ project_id, environment, id }),
  };
}
