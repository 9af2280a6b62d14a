import type { Database, SQLQueryBindings } from "bun:sqlite";
import { inSlices } from "../lib/slices.ts";
import type { Condition, Narrow } from "./condition.ts";

/** A list that is sorted by a column in the first place, and by `by` where rows are equal in it. */
interface SortedList {
  table: string;
  /** Holds numbers, or NULL, which stands before them. */
  column: string;
  by: string;
  within: Condition;
  /** Of which rows the index of `within`, `column` and `by` is. */
  among: string;
  /** What is asked of them besides. */
  where: readonly Condition[];
  descending: boolean;
  narrow?: Narrow | undefined;
  signal?: AbortSignal | undefined;
}

interface Place {
  value: number | null;
  id: string;
}

// Rows that are looked at together: twice as many each time, since most pages are full with the first of them.
const [firstWindow, mostWindow] = [32, 1000];
// Of what an index of words knows, the newest are sorted.
const mostKnown = 10_000;

/** Ids of a sorted list, behind one of them: others are answered while they are looked for. */
export async function* sortedIds(sqlite: Database, list: SortedList, cursor: string | null): AsyncGenerator<string> {
  const { table, column, by, within, among, where, descending, narrow, signal } = list;
  const direction = descending ? "DESC" : "ASC";
  const select = (conditions: readonly Condition[], more: string): Place[] =>
    sqlite
      .query<Place, SQLQueryBindings[]>(
        `SELECT ${column} AS value, ${by} AS id FROM ${table}
         WHERE ${among} AND ${conditions.map(({ sql }) => `(${sql})`).join(" AND ")} ${more}`,
      )
      .all(...conditions.flatMap(({ values }) => values));

  const [after] = cursor === null ? [null] : select([within, { sql: `${by} = ?`, values: [cursor] }], "");
  if (after === undefined) return; // It is gone, and nobody knows where it stood.
  const rest = inSlices(() => signal?.throwIfAborted());
  if (narrow) {
    const known: Place[] = [];
    for (let from: string | null = null; known.length < mostKnown; await rest()) {
      const window = await narrow(from, true);
      const behind = from === null ? [] : [{ sql: `${by} < ?`, values: [from] }];
      known.push(...select([...where, window, ...behind], ""));
      if (window.until === null) break;
      from = window.until;
    }
    const sign = descending ? -1 : 1;
    const order = (a: Place, b: Place): number => sign * compare(a, b);
    for (const place of known.sort(order)) if (after === null || order(place, after) > 0) yield place.id;
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
 * The rows behind a place, in their order and some at a time, as conditions whose first row the index finds. Rows that are
 * equal in the column have windows of their own: any number of them may be, and SQLite would look at all of them for each
 * comparison of both columns.
 */
function* windowsOf(
  sqlite: Database,
  { table, column, by, within, among, descending }: SortedList,
  after: Place | null,
): Generator<Condition> {
  const [direction, behind, before] = descending ? ["DESC", "<", ">"] : ["ASC", ">", "<"];
  let most = firstWindow;

  /** What the last row of a window has there; null where there are fewer rows. */
  function last<Value extends string | number>(name: string, { sql, values }: Condition): Value | null {
    const text = `SELECT ${name} AS last FROM ${table} WHERE ${among} AND (${within.sql}) AND ${sql}
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
      // All numbers, and not NULL, by the end at which the order begins: of two bounds at one end SQLite may use the wider.
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
