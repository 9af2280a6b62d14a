import type { Database, SQLQueryBindings } from "bun:sqlite";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { SQL } from "drizzle-orm";
import { SQLiteSyncDialect } from "drizzle-orm/sqlite-core";
import { abridged } from "../core/abridged.ts";
import { byteLength } from "../core/byte-length.ts";
import { AppError, type Fault } from "../core/errors.ts";
import { namedInPaths } from "../core/fields.ts";
import { isId, type Kind } from "../core/ids.ts";
import { limits } from "../core/limits.ts";
import type { Scope } from "../core/scope.ts";
import { readTimestamp } from "../core/time.ts";
import type { Db } from "../db/open.ts";
import { columnsOf, createReader, nameOf, type Relation } from "../db/rows.ts";
import { oneOf } from "../lib/schema.ts";
import { inSlices } from "../lib/slices.ts";
import type { Condition, Narrow } from "./condition.ts";
import { fault, otherIdExpected, refuse } from "./errors.ts";
import type { Query } from "./operation.ts";
import { queryOf } from "./query-of.ts";
import { sortedIds } from "./sorted-ids.ts";

/** The part of a list that a client asks for. */
export interface Page {
  limit: number;
  starting_after: string | null;
  ending_before: string | null;
  order: "asc" | "desc";
  created_at: { operator: ">" | ">=" | "<" | "<="; ms: number }[];
  metadata: [key: string, value: string][];
  /** Columns that must equal a value, by the resource's own parameters. */
  filters: Record<string, string>;
}

const operators = { gt: ">", gte: ">=", lt: "<", lte: "<=" } as const;
const time = Type.String({ format: "date-time" });

/** Parameters of what is read page by page, in one direction. */
export const forwardQuery = {
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 20 }),
  starting_after: Type.String({ minLength: 1 }),
};

/** Parameters of a list whose items have no metadata. */
export const plainListQuery = {
  ...forwardQuery,
  ending_before: forwardQuery.starting_after,
  order: oneOf(["desc", "asc"], { default: "desc" }),
  ...Object.fromEntries(Object.keys(operators).map((name) => [`created_at[${name}]`, time])),
};

/** Parameters of a list. */
export const listQuery = { ...plainListQuery, "metadata[*]": Type.String() };

/** The parameters of a list that say which of its items are meant. */
const { limit: _, starting_after: __, ending_before: ___, ...ofItems } = listQuery;
export const withoutPages = ofItems;

const emptyPage: Page = {
  limit: 20,
  starting_after: null,
  ending_before: null,
  order: "desc",
  created_at: [],
  metadata: [],
  filters: {},
};

/** As much as a page has of what comes behind an item, the oldest first. */
export const pageAfter = (starting_after: string | null): Page => ({
  ...emptyPage,
  limit: 100,
  order: "asc",
  starting_after,
});

/** Reads the parameters of a list from the address; throws with every fault that they have. */
export function readPage(url: string, filters: Query = {}): Page {
  if (!url.includes("?")) return emptyPage;
  const page: Page = { ...emptyPage, created_at: [], metadata: [], filters: {} };
  const faults: Fault[] = [];
  const seen = new Set<string>();
  for (const [name, value] of queryOf(url)) {
    const problem = seen.has(name) ? "This parameter is given twice." : readParameter(page, name, value, filters);
    if (problem) faults.push(fault(name, problem));
    seen.add(name);
  }
  if (page.starting_after !== null && page.ending_before !== null)
    faults.push(fault("ending_before", "Give either starting_after or ending_before."));
  refuse(faults.slice(0, 100));
  return page;
}

/** Puts one parameter into the page; what is wrong with it, or null. */
function readParameter(page: Page, name: string, value: string, filters: Query): string | null {
  switch (name) {
    case "limit":
      // Number("") is 0 and Number("1e1") is 10: only digits are an integer.
      if (!/^\d{1,3}$/.test(value) || Number(value) < 1 || Number(value) > 100)
        return "Expected an integer from 1 to 100.";
      page.limit = Number(value);
      return null;
    case "order":
      if (value !== "asc" && value !== "desc") return "Expected asc or desc.";
      page.order = value;
      return null;
    case "starting_after":
    case "ending_before":
      if (value === "") return "Expected an id.";
      page[name] = value;
      return null;
  }
  const [, field, key = ""] = /^(created_at|metadata)\[(.*)\]$/s.exec(name) ?? [];
  if (field === "metadata") return readMetadata(page, key, value);
  if (field === "created_at") return readBound(page, key, value);
  const rule = Object.hasOwn(filters, name) ? filters[name] : undefined;
  if (!rule) return "There is no such filter.";
  if (!Value.Check(rule, rule.type === "number" ? numberIn(value) : value)) {
    const choices = rule.anyOf?.map(({ const: choice }: { const: string }) => choice);
    if (choices) return `Expected one of ${choices.join(", ")}.`;
    return rule.pattern === namedInPaths && /^\.\.?$/.test(value) ? otherIdExpected : "This is not a possible value.";
  }
  page.filters[name] = value;
  return null;
}

/** Number("") is 0, and Number("0x10") is 16: only decimal digits are a number. */
const numberIn = (text: string): number => (/^-?\d{1,15}(\.\d{1,12})?$/.test(text) ? Number(text) : Number.NaN);

function readMetadata(page: Page, key: string, value: string): string | null {
  if (key === "" || key.length > 64) return "A key has 1 to 64 characters.";
  if (page.metadata.length >= 16) return "At most 16 pairs can be asked for.";
  page.metadata.push([key, value]);
  return null;
}

function readBound(page: Page, name: string, value: string): string | null {
  const operator = Object.hasOwn(operators, name) ? operators[name as keyof typeof operators] : undefined;
  if (!operator) return "Expected one of gt, gte, lt, lte.";
  const ms = readTimestamp(value);
  if (ms === null) return "Expected a time such as 2026-11-21T01:20:00.123Z.";
  page.created_at.push({ operator, ms });
  return null;
}

interface ListQuery<R extends Relation, Name extends keyof R["$inferSelect"], More> {
  /** A table or a view with project_id, environment, created_at_ms and metadata. */
  table: R;
  /** The column that its items are sorted by, of which no two in the list are equal: the cursors. */
  by?: keyof R["$inferSelect"] & string;
  /** What the cursors are; null where any text is one. */
  kind: Kind | null;
  /** What to read of the table; all by default. */
  columns?: readonly Name[];
  /** What to read besides, as SQL. */
  more?: { [Key in keyof More]: SQL<More[Key]> };
  scope: Scope;
  page: Page;
  /** What belongs to the list, where that is not just what stands in the scope. */
  within?: Condition;
  /** Conditions beyond the page's own. */
  where?: readonly Condition[];
  /** For items that are read nowhere else: long fields are not shortened. */
  whole?: boolean;
  /** A column of numbers that the list is sorted by in the first place, and of which rows its index is. */
  sort?: { column: keyof R["$inferSelect"] & string; among: string };
  /** An index that knows which rows may be meant. */
  narrow?: Narrow;
  /** Columns by each of which, alone, an index finds rows in the order of the list. */
  indexed?: readonly string[];
  /** Whether `where` may leave out most rows. */
  isSparse?: boolean;
  /** Whoever asks: nothing more is looked for once they have left. */
  signal?: AbortSignal | undefined;
}

/** The body of a list. */
export interface List<Item> {
  object: "list";
  data: Item[];
  has_more: boolean;
  first_id: string | null;
  last_id: string | null;
}

type Made<Item> = Item | null | Promise<Item | null>;

// A row may be a megabyte long, and nobody knows how many of them the page has room for.
const rowsPerRead = 4;

const dialect = new SQLiteSyncDialect();

/** Bytes of all items of a page together; the rest is for what stands around them, where the cursors may be long keys. */
export const pageRoom = limits.page_bytes - 16 * 1024;

/**
 * One page of a table, by id: ids sort by their time of creation, so what is inserted or deleted between two pages can
 * neither repeat nor hide a row. A cursor is a place and need not name a row: the row may be gone, and whether there is
 * one in another project is not told. `toItem` answers null for what was deleted while the list was read.
 */
export async function listPage<
  R extends Relation,
  Item extends object,
  Name extends keyof R["$inferSelect"] = keyof R["$inferSelect"],
  More extends object = object,
>(
  { sqlite }: Pick<Db, "sqlite">,
  query: ListQuery<R, Name, More>,
  toItem: (row: NoInfer<Pick<R["$inferSelect"], Name> & More>) => Made<Item>,
  idOf: (item: Item) => string = (item) => (item as { id: string }).id,
): Promise<List<Item>> {
  const { kind, page, sort, whole = false } = query;
  const narrow = query.narrow ?? (sort ? undefined : windowsOf(sqlite, query));
  const [table, by] = [nameOf(query.table), query.by ?? "id"];
  const cursor = page.starting_after ?? page.ending_before;
  if (cursor !== null && kind !== null && !isId(kind, cursor)) throw noSuchPlace();
  const backwards = page.ending_before !== null;
  const descending = (page.order === "desc") !== backwards;
  const conditions = conditionsOf(query);
  const columns = [
    query.columns?.join(", ") ?? columnsOf(query.table),
    ...Object.entries<SQL>(query.more ?? {}).map(([name, value]) => `(${dialect.sqlToQuery(value).sql}) AS ${name}`),
  ];
  const direction = descending ? "DESC" : "ASC";
  const behind = `${by} ${descending ? "<" : ">"} ?`;
  const select = (among: readonly Condition[]) => (after: string | null) =>
    sqlite
      .query<Record<string, unknown>, SQLQueryBindings[]>(
        `SELECT ${columns.join(", ")} FROM ${table} WHERE ${among.map(({ sql }) => `(${sql})`).join(" AND ")}
         ${after === null ? "" : `AND ${behind}`} ORDER BY ${by} ${direction} LIMIT ?`,
      )
      .all(...among.flatMap(({ values }) => values), ...(after === null ? [] : [after]), rowsPerRead);
  const idIn = (raw: Record<string, unknown>) => String(raw[by]);
  async function* narrowed(narrow: Narrow): AsyncGenerator<Record<string, unknown>> {
    const rest = inSlices(() => query.signal?.throwIfAborted());
    for (let from = cursor; ; ) {
      const window = await narrow(from, descending);
      yield* read(select([...conditions, window]), from, idIn);
      if (window.until === null) return;
      from = window.until;
      await rest(); // None of the rows that the index knows of may be meant.
    }
  }
  async function* sorted({ column, among }: NonNullable<typeof sort>): AsyncGenerator<Record<string, unknown>> {
    const { scope, within = inScope(scope), narrow, signal } = query;
    const list = { table, column, by, within, among, where: conditions, descending, narrow, signal };
    for await (const id of sortedIds(sqlite, list, cursor))
      yield* select([...conditions, { sql: `${by} = ?`, values: [id] }])(null);
  }
  const rows = sort ? sorted(sort) : narrow ? narrowed(narrow) : read(select(conditions), cursor, idIn);
  const toRow = createReader(query.table) as (raw: object) => Parameters<typeof toItem>[0];
  const { data, has_more } = await fillPage(rows, page.limit, async (raw) => {
    const item = await toItem(toRow(raw));
    return item && (whole ? item : abridged(item));
  });
  return toList(backwards ? data.reverse() : data, has_more, idOf);
}

// Rows that are looked at together where an index does not know which of them are meant.
const perWindow = 1000;

/** Looks through the rows of a list some at a time, so that others are answered; undefined where an index finds them. */
function windowsOf<R extends Relation>(
  sqlite: Database,
  query: Pick<ListQuery<R, never, object>, "table" | "by" | "scope" | "within" | "page" | "indexed" | "isSparse">,
): Narrow | undefined {
  const { page, scope, within = inScope(scope), indexed = [], isSparse = false } = query;
  const columns = Object.keys(page.filters);
  const hasMore = page.created_at.length + page.metadata.length > 0;
  const isFound = columns.length === 1 && indexed.includes(columns[0]!);
  if (!isSparse && !hasMore && (columns.length === 0 || isFound)) return;
  const [table, by] = [nameOf(query.table), query.by ?? "id"];
  return async (after, descending) => {
    const [direction, behind, upTo] = descending ? ["DESC", "<", ">="] : ["ASC", ">", "<="];
    const last = sqlite
      .query<{ place: string | number }, SQLQueryBindings[]>(
        `SELECT ${by} AS place FROM ${table} WHERE (${within.sql}) ${after === null ? "" : `AND ${by} ${behind} ?`}
         ORDER BY ${by} ${direction} LIMIT 1 OFFSET ?`,
      )
      .get(...within.values, ...(after === null ? [] : [after]), perWindow - 1);
    if (!last) return { sql: "TRUE", values: [], until: null };
    return { sql: `${by} ${upTo} ?`, values: [last.place], until: String(last.place) };
  };
}

/** What rows of a list fulfil, whichever page of it is asked for. */
function conditionsOf<R extends Relation>(
  query: Pick<ListQuery<R, never, object>, "table" | "scope" | "within" | "page" | "where">,
): Condition[] {
  const { scope, within = inScope(scope), page, where = [] } = query;
  const table = nameOf(query.table);
  return [
    within,
    ...page.created_at.map(({ operator, ms }) => ({ sql: `created_at_ms ${operator} ?`, values: [ms] })),
    ...page.metadata.map((pair) => ({
      sql: `EXISTS (SELECT 1 FROM json_each(${table}.metadata) WHERE key = ? AND value = ?)`,
      values: pair,
    })),
    ...Object.entries(page.filters).map(([column, value]) => ({ sql: `${column} = ?`, values: [value] })),
    ...where,
  ];
}

/** How many rows a list has, and no more than `most`: others are answered while it counts. */
export async function countRows<R extends Relation>(
  { sqlite }: Pick<Db, "sqlite">,
  query: Pick<
    ListQuery<R, never, object>,
    "table" | "scope" | "within" | "page" | "where" | "narrow" | "indexed" | "isSparse" | "signal"
  >,
  most: number,
): Promise<number> {
  const conditions = conditionsOf(query);
  const narrow = query.narrow ?? windowsOf(sqlite, query);
  const rest = inSlices(() => query.signal?.throwIfAborted());
  for (let [from, count]: [string | null, number] = [null, 0]; ; ) {
    const window: Awaited<ReturnType<Narrow>> | null = (await narrow?.(from, true)) ?? null;
    const among = window ? [...conditions, window] : conditions;
    // The windows of an index have their last row in common with nobody: they begin behind it.
    const behind = from === null ? "" : "AND id < ?";
    count += sqlite
      .query<{ n: number }, SQLQueryBindings[]>(
        `SELECT count(*) AS n FROM (SELECT 1 FROM ${nameOf(query.table)}
         WHERE ${among.map(({ sql }) => `(${sql})`).join(" AND ")} ${behind} LIMIT ?)`,
      )
      .get(...among.flatMap(({ values }) => values), ...(from === null ? [] : [from]), most - count)!.n;
    if (count >= most || !window || window.until === null) return count;
    from = window.until;
    await rest();
  }
}

/** Rows in their order, some at a time: nothing is held while somebody else is answered. */
export function* read<Row, Place>(
  select: (after: Place, limit: number) => readonly Row[],
  from: Place,
  placeOf: (row: Row) => Place,
): Generator<Row> {
  for (let after = from; ; ) {
    const rows = select(after, rowsPerRead);
    yield* rows;
    if (rows.length < rowsPerRead) return;
    after = placeOf(rows.at(-1)!);
  }
}

/**
 * So many items as were asked for, or as the body has room for: an item that is longer than that comes alone. Others are
 * answered while a page takes long.
 */
export async function fillPage<Row, Item>(
  rows: Iterable<Row> | AsyncIterable<Row>,
  limit: number,
  toItem: (row: Row) => Made<Item>,
): Promise<Pick<List<Item>, "data" | "has_more">> {
  const data: Item[] = [];
  const rest = inSlices();
  let bytes = 0;
  for await (const row of rows) {
    if (data.length === limit) return { data, has_more: true };
    const item = await toItem(row);
    if (item === null) continue;
    bytes += byteLength(JSON.stringify(item)) + 1;
    if (bytes > pageRoom && data.length > 0) return { data, has_more: true };
    data.push(item);
    await rest();
  }
  return { data, has_more: false };
}

/** The body of a list, whose cursors `idOf` tells. */
export function toList<Item>(data: Item[], has_more: boolean, idOf: (item: Item) => string): List<Item> {
  const [first, last] = [data[0], data.at(-1)];
  const nameOf = (item: Item | undefined) => (item === undefined ? null : idOf(item));
  return { object: "list", data, has_more, first_id: nameOf(first), last_id: nameOf(last) };
}

// The same for every id that is none of this list's: which of them are others' is not told.
export const noSuchPlace = () => new AppError("invalid_cursor", "The cursor is not the id of anything in this list.");

/** In a scope, and there below what these columns name. */
export const inScope = ({ project_id, environment }: Scope, below: Record<string, string> = {}): Condition => ({
  sql: ["project_id", "environment", ...Object.keys(below)].map((column) => `${column} = ?`).join(" AND "),
  values: [project_id, environment, ...Object.values(below)],
});
