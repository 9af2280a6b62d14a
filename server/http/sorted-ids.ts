import type { Database, SQLQueryBindings } from "bun:sqlite";
import { createYielder } from "../lib/cooperative-yield.ts";
import type { Condition, RowFilter } from "./row-filter.ts";

/** A list sorted by a column first, and by `by` where rows are equal in it. */
interface SortedList {
  table: string;
  /** Numeric column; NULL sorts first. */
  column: string;
  by: string;
  within: Condition;
  /** Condition of the partial index on `within`, `column` and `by`. */
  indexCondition: string;
  /** Further conditions. */
  where: readonly Condition[];
  descending: boolean;
  rowFilter?: RowFilter | undefined;
  signal?: AbortSignal | undefined;
}

interface Place {
  value: number | null;
  id: string;
}

// Rows per window; doubles each time, because the first window fills most pages.
const [firstWindow, mostWindow] = [32, 1000];
// Maximum rows sorted from a word index: the newest.
const mostKnown = 10_000;

/** Yields the ids of a sorted list after a cursor, with pauses for other requests. */
export async function* sortedIds(sqlite: Database, list: SortedList, cursor: string | null): AsyncGenerator<string> {
  const { table, column, by, within, indexCondition, where, descending, rowFilter, signal } = list;
  const direction = descending ? "DESC" : "ASC";
  const select = (conditions: readonly Condition[], more: string): Place[] =>
    sqlite
      .query<Place, SQLQueryBindings[]>(
        `SELECT ${column} AS value, ${by} AS id FROM ${table}
         WHERE ${indexCondition} AND ${conditions.map(({ sql }) => `(${sql})`).join(" AND ")} ${more}`,
      )
      .all(...conditions.flatMap(({ values }) => values));

  const [after] = cursor === null ? [null] : select([within, { sql: `${by} = ?`, values: [cursor] }], "");
  if (after === undefined) return; // The cursor's row was deleted, so its position is unknown.
  const rest = createYielder(() => signal?.throwIfAborted());
  if (rowFilter) {
    const places: Place[] = [];
    for (let from: string | null = null; places.length < mostKnown; await rest()) {
      const window = await rowFilter(from, true);
      const behind = from === null ? [] : [{ sql: `${by} < ?`, values: [from] }];
      places.push(...select([...where, window, ...behind], ""));
      if (window.until === null) break;
      from = window.until;
    }
    const sign = descending ? -1 : 1;
    const order = (a: Place, b: Place): number => sign * compare(a, b);
    for (const place of places.sort(order)) if (after === null || order(place, after) > 0) yield place.id;
    return;
  }
  for (const window of windowsOf(sqlite, list, after)) {
    for (const { id } of select([...where, window], `ORDER BY ${column} ${direction}, ${by} ${direction}`)) yield id;
    await rest();
  }
}

function compare(a: Place, b: Place): number {
  const [own, other] = [a.value ?? Number.NEGATIVE_INFINITY, b.value ?? Number.NEGATIVE_INFINITY];
  if (own !== other) return own < other ? -1 : 1;
  return a.id < b.id ? -1 : Number(a.id > b.id);
}

/**
 * Yields the rows after a place in windows, as conditions whose first row the index finds. Rows with equal values get
 * windows of their own: there may be many, and SQLite would scan all of them for a comparison of both columns.
 */
function* windowsOf(
  sqlite: Database,
  { table, column, by, within, indexCondition, descending }: SortedList,
  after: Place | null,
): Generator<Condition> {
  const [direction, behind, before] = descending ? ["DESC", "<", ">"] : ["ASC", ">", "<"];
  let most = firstWindow;

  /** Value in the last row of a full window; null if fewer rows are left. */
  function last<Value extends string | number>(name: string, { sql, values }: Condition): Value | null {
    const text = `SELECT ${name} AS last FROM ${table} WHERE ${indexCondition} AND (${within.sql}) AND ${sql}
      ORDER BY ${name} ${direction} LIMIT 1 OFFSET ?`;
    const found = sqlite.query<{ last: Value }, SQLQueryBindings[]>(text).get(...within.values, ...values, most - 1);
    most = Math.min(2 * most, mostWindow);
    return found?.last ?? null;
  }

  function* equal(value: number | null, from: string | null): Generator<Condition> {
    for (let id = from; ; ) {
      const others = { sql: `${column} IS ? AND ${by} ${behind} ?`, values: [value, id] };
      const rest = id === null ? { sql: `${column} IS ?`, values: [value] } : others;
      id = last<string>(by, rest);
      if (id === null) return yield rest;
      yield { sql: `${rest.sql} AND ${by} ${before}= ?`, values: [...rest.values, id] };
    }
  }

  function* different(from: number | null): Generator<Condition> {
    for (let value = from; ; ) {
      // All numbers but not NULL, bounded at the end where the order begins, because of two bounds at one end SQLite
      // may use the wider.
      const all = descending ? "<= 9e999" : ">= -9e999";
      const rest =
        value === null ? { sql: `${column} ${all}`, values: [] } : { sql: `${column} ${behind} ?`, values: [value] };
      value = last<number>(column, rest);
      if (value === null) return yield rest;
      yield { sql: `${rest.sql} AND ${column} ${before} ?`, values: [...rest.values, value] };
      yield* equal(value, null);
    }
  }

  if (after) yield* equal(after.value, after.id);
  else if (!descending) yield* equal(null, null);
  if (descending && after?.value === null) return;
  yield* different(after?.value ?? null);
  if (descending) yield* equal(null, null);
}
