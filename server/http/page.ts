import type { Database, SQLQueryBindings } from "bun:sqlite";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { SQL } from "drizzle-orm";
import { SQLiteSyncDialect } from "drizzle-orm/sqlite-core";
import { byteLength } from "../domain/byte-length.ts";
import { noSuch, orderExpected, repeatedParameter, timeExpected } from "../domain/error-messages.ts";
import { AppError, type Fault } from "../domain/errors.ts";
import { namedInPaths } from "../domain/fields.ts";
import { isId, type Kind } from "../domain/ids.ts";
import { limits } from "../domain/limits.ts";
import type { Scope } from "../domain/scope.ts";
import { readTimestamp } from "../domain/time.ts";
import { truncateResource } from "../domain/truncate-resource.ts";
import { lastItem } from "../lib/collections.ts";
import { createYielder } from "../lib/cooperative-yield.ts";
import { about, oneOf } from "../lib/schema.ts";
import { onlyRow } from "../storage/db/only-row.ts";
import type { Db } from "../storage/db/open.ts";
import { columnsOf, createReader, nameOf, type Relation } from "../storage/db/scoped-table.ts";
import { cachedQuery } from "./cached-query.ts";
import { fault, otherIdExpected, throwIfInvalid } from "./errors.ts";
import type { Query } from "./operation.ts";
import { patternWords } from "./pattern-words.ts";
import type { Condition, RowFilter } from "./row-filter.ts";
import { sortedIds } from "./sorted-ids.ts";

/** The part of a list that a client requests. */
export interface Page {
  limit: number;
  starting_after: string | null;
  ending_before: string | null;
  order: "asc" | "desc";
  created_at: { operator: ">" | ">=" | "<" | "<="; ms: number }[];
  metadata: [key: string, value: string][];
  /** Required column values, from the resource's own parameters. */
  filters: Record<string, string>;
}

const operators = { gt: ">", gte: ">=", lt: "<", lte: "<=" } as const;
const time = Type.String({ format: "date-time" });

/** Parameters of lists with forward pagination only. */
export const forwardQuery = {
  limit: about("How many items a page has at most.", Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
  starting_after: about("A cursor: returns the items after it.", Type.String({ minLength: 1 })),
};

/** Parameters of lists whose items have no metadata. */
export const plainListQuery = {
  ...forwardQuery,
  ending_before: about("A cursor: returns the items before it.", forwardQuery.starting_after),
  order: about("The newest first, or the oldest.", oneOf(["desc", "asc"], { default: "desc" })),
  "created_at[gt]": about("Only items created after this time.", time),
  "created_at[gte]": about("Only items created at this time or after it.", time),
  "created_at[lt]": about("Only items created before this time.", time),
  "created_at[lte]": about("Only items created at this time or before it.", time),
};

/** Parameters of lists. */
export const listQuery = {
  ...plainListQuery,
  "metadata[*]": about("Only items that have all of these pairs, as `metadata[name]=value`.", Type.String()),
};

/** List parameters that filter items (all but the pagination ones). */
const { limit: _, starting_after: __, ending_before: ___, ...ofItems } = listQuery;
export const filterQuery = ofItems;

const emptyPage: Page = {
  limit: 20,
  starting_after: null,
  ending_before: null,
  order: "desc",
  created_at: [],
  metadata: [],
  filters: {},
};

/** Returns the longest page after an item, oldest first. */
export const pageAfter = (starting_after: string | null): Page => ({
  ...emptyPage,
  limit: 100,
  order: "asc",
  starting_after,
});

/** Parses list parameters from the URL; throws all faults at once. */
export function readPage(url: string, filters: Query = {}): Page {
  if (!url.includes("?")) return emptyPage;
  const page: Page = { ...emptyPage, created_at: [], metadata: [], filters: {} };
  const faults: Fault[] = [];
  const seenNames = new Set<string>();
  for (const [name, value] of cachedQuery(url)) {
    const problem = seenNames.has(name) ? repeatedParameter : readParameter(page, name, value, filters);
    if (problem) faults.push(fault(name, problem));
    seenNames.add(name);
  }
  if (page.starting_after !== null && page.ending_before !== null)
    faults.push(fault("ending_before", "Give either starting_after or ending_before."));
  throwIfInvalid(faults.slice(0, 100));
  return page;
}

/** Adds one parameter to the page. Returns its fault or null. */
function readParameter(page: Page, name: string, value: string, filters: Query): string | null {
  switch (name) {
    case "limit":
      // Number("") is 0 and Number("1e1") is 10: only digits are an integer.
      if (!/^\d{1,3}$/.test(value) || Number(value) < 1 || Number(value) > 100)
        return "Must be an integer from 1 to 100.";
      page.limit = Number(value);
      return null;
    case "order":
      if (value !== "asc" && value !== "desc") return orderExpected;
      page.order = value;
      return null;
    case "starting_after":
    case "ending_before":
      if (value === "") return "Must be an id.";
      page[name] = value;
      return null;
  }
  const [, field, key = ""] = /^(created_at|metadata)\[(.*)\]$/s.exec(name) ?? [];
  if (field === "metadata") return readMetadata(page, key, value);
  if (field === "created_at") return readBound(page, key, value);
  const rule = Object.hasOwn(filters, name) ? filters[name] : undefined;
  if (!rule) return noSuch("filter");
  if (!Value.Check(rule, rule.type === "number" ? numberIn(value) : value)) {
    const choices = rule.anyOf?.map(({ const: choice }: { const: string }) => choice);
    if (choices) return `Must be one of ${choices.join(", ")}.`;
    return rule.pattern === namedInPaths && /^\.\.?$/.test(value)
      ? otherIdExpected
      : (patternWords(rule) ?? impossible);
  }
  page.filters[name] = value;
  return null;
}

const impossible = "This is not a possible value.";

/** Accepts decimal notation only: Number("") is 0, and Number("0x10") is 16. */
const numberIn = (text: string): number => (/^-?\d{1,15}(\.\d{1,12})?$/.test(text) ? Number(text) : Number.NaN);

function readMetadata(page: Page, key: string, value: string): string | null {
  if (key === "" || key.length > 64) return "A key has 1 to 64 characters.";
  if (page.metadata.length >= 16) return "At most 16 pairs can be asked for.";
  page.metadata.push([key, value]);
  return null;
}

function readBound(page: Page, name: string, value: string): string | null {
  const operator = Object.hasOwn(operators, name) ? operators[name as keyof typeof operators] : undefined;
  if (!operator) return "Must be one of gt, gte, lt, lte.";
  const ms = readTimestamp(value);
  if (ms === null) return timeExpected;
  page.created_at.push({ operator, ms });
  return null;
}

interface ListQuery<R extends Relation, Name extends keyof R["$inferSelect"], More> {
  /** A table or view with project_id, environment, created_at_ms and metadata. */
  table: R;
  /** Unique sort column; its values are the cursors. */
  by?: keyof R["$inferSelect"] & string;
  /** Kind of the cursors' ids; null if any text is valid. */
  kind: Kind | null;
  /** Columns to read; default: all. */
  columns?: readonly Name[];
  /** Additional columns as SQL. */
  more?: { [Key in keyof More]: SQL<More[Key]> };
  scope: Scope;
  page: Page;
  /** Rows that belong to the list; default: all in the scope. */
  within?: Condition;
  /** Conditions beyond the page's own. */
  where?: readonly Condition[];
  /** True: do not truncate long fields, because the items can be read nowhere else. */
  isComplete?: boolean;
  /** Numeric column to sort by first; `indexCondition` is the condition of its partial index. */
  sort?: { column: keyof R["$inferSelect"] & string; indexCondition: string };
  /** Filter by an index that knows the candidate rows. */
  rowFilter?: RowFilter;
  /** Filter columns that have an index in list order. */
  indexed?: readonly string[];
  /** True if `where` may exclude most rows. */
  isSparse?: boolean;
  /** The client's signal; reading stops when it disconnects. */
  signal?: AbortSignal | undefined;
}

/** Body of a list response. */
export interface List<Item> {
  object: "list";
  data: Item[];
  has_more: boolean;
  first_id: string | null;
  last_id: string | null;
}

type Made<Item> = Item | null | Promise<Item | null>;

// A row may have a megabyte, and the page may have room for one only.
const rowsPerRead = 4;

const dialect = new SQLiteSyncDialect();

/** Maximum bytes of a page's items; the rest is for the envelope, whose cursors may be long keys. */
export const pageRoom = limits.page_bytes - 16 * 1024;

/**
 * Returns one page of a table, sorted by id. Ids sort by creation time, so rows inserted or deleted between two pages
 * cause neither repeats nor gaps. A cursor is a position: its row may be deleted, and a row of another project is not
 * revealed. `toItem` returns null for a row deleted meanwhile.
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
  const { kind, page, sort, isComplete = false } = query;
  const rowFilter = query.rowFilter ?? (sort ? undefined : windowsOf(sqlite, query));
  const [table, by] = [nameOf(query.table), query.by ?? "id"];
  const cursor = page.starting_after ?? page.ending_before;
  if (cursor !== null && kind !== null && !isId(kind, cursor)) throw invalidCursor();
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
  async function* filteredRows(rowFilter: RowFilter): AsyncGenerator<Record<string, unknown>> {
    const rest = createYielder(() => query.signal?.throwIfAborted());
    for (let from = cursor; ; ) {
      const window = await rowFilter(from, descending);
      yield* readRows(select([...conditions, window]), from, idIn);
      if (window.until === null) return;
      from = window.until;
      await rest(); // The index may propose many rows that match no condition.
    }
  }
  async function* sorted({
    column,
    indexCondition,
  }: NonNullable<typeof sort>): AsyncGenerator<Record<string, unknown>> {
    const { scope, within = scopeCondition(scope), rowFilter, signal } = query;
    const list = { table, column, by, within, indexCondition, where: conditions, descending, rowFilter, signal };
    for await (const id of sortedIds(sqlite, list, cursor))
      yield* select([...conditions, { sql: `${by} = ?`, values: [id] }])(null);
  }
  const rows = sort ? sorted(sort) : rowFilter ? filteredRows(rowFilter) : readRows(select(conditions), cursor, idIn);
  const toRow = createReader(query.table) as (raw: object) => Parameters<typeof toItem>[0];
  const { data, has_more } = await fillPage(rows, page.limit, async (raw) => {
    const item = await toItem(toRow(raw));
    return item && (isComplete ? item : truncateResource(item));
  });
  return toList(backwards ? data.reverse() : data, has_more, idOf);
}

// Rows scanned per window if no index knows the matches.
const perWindow = 1000;

/** Creates a filter that scans a list in windows and yields in between; undefined if an index finds the rows. */
function windowsOf<R extends Relation>(
  sqlite: Database,
  query: Pick<ListQuery<R, never, object>, "table" | "by" | "scope" | "within" | "page" | "indexed" | "isSparse">,
): RowFilter | undefined {
  const { page, scope, within = scopeCondition(scope), indexed = [], isSparse = false } = query;
  const columns = Object.keys(page.filters);
  const hasMore = page.created_at.length + page.metadata.length > 0;
  const isFound = columns.length === 1 && columns.every((column) => indexed.includes(column));
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

/** Conditions of all pages of a list. */
function conditionsOf<R extends Relation>(
  query: Pick<ListQuery<R, never, object>, "table" | "scope" | "within" | "page" | "where">,
): Condition[] {
  const { scope, within = scopeCondition(scope), page, where = [] } = query;
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

/** Counts the rows of a list up to `most`; yields while counting. */
export async function countRows<R extends Relation>(
  { sqlite }: Pick<Db, "sqlite">,
  query: Pick<
    ListQuery<R, never, object>,
    "table" | "scope" | "within" | "page" | "where" | "rowFilter" | "indexed" | "isSparse" | "signal"
  >,
  most: number,
): Promise<number> {
  const conditions = conditionsOf(query);
  const rowFilter = query.rowFilter ?? windowsOf(sqlite, query);
  const rest = createYielder(() => query.signal?.throwIfAborted());
  for (let [from, count]: [string | null, number] = [null, 0]; ; ) {
    const window: Awaited<ReturnType<RowFilter>> | null = (await rowFilter?.(from, true)) ?? null;
    const among = window ? [...conditions, window] : conditions;
    // Windows must not overlap, so each starts behind the previous one.
    const behind = from === null ? "" : "AND id < ?";
    const countRowsUpTo = sqlite.query<{ n: number }, SQLQueryBindings[]>(
      `SELECT count(*) AS n FROM (SELECT 1 FROM ${nameOf(query.table)}
       WHERE ${among.map(({ sql }) => `(${sql})`).join(" AND ")} ${behind} LIMIT ?)`,
    );
    const values = among.flatMap((one) => one.values);
    count += onlyRow(countRowsUpTo.get(...values, ...(from === null ? [] : [from]), most - count)).n;
    if (count >= most || !window || window.until === null) return count;
    from = window.until;
    await rest();
  }
}

/** Reads rows in order, a few per statement, so that no statement stays open while other requests run. */
export function* readRows<Row, Place>(
  select: (after: Place, limit: number) => readonly Row[],
  from: Place,
  placeOf: (row: Row) => Place,
): Generator<Row> {
  for (let after = from; ; ) {
    const rows = select(after, rowsPerRead);
    yield* rows;
    if (rows.length < rowsPerRead) return;
    after = placeOf(lastItem(rows));
  }
}

/**
 * Collects up to `limit` items, or as many as fit into the body; an item larger than that comes alone. Yields in
 * between.
 */
export async function fillPage<Row, Item>(
  rows: Iterable<Row> | AsyncIterable<Row>,
  limit: number,
  toItem: (row: Row) => Made<Item>,
): Promise<Pick<List<Item>, "data" | "has_more">> {
  const data: Item[] = [];
  const rest = createYielder();
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

/** Returns the body of a list; `idOf` returns an item's cursor. */
export function toList<Item>(data: Item[], has_more: boolean, idOf: (item: Item) => string): List<Item> {
  const [first, last] = [data[0], data.at(-1)];
  const nameOf = (item: Item | undefined) => (item === undefined ? null : idOf(item));
  return { object: "list", data, has_more, first_id: nameOf(first), last_id: nameOf(last) };
}

// The same error for every invalid cursor, so that ids of other projects are not revealed.
export const invalidCursor = () => new AppError("invalid_cursor", "The cursor is not the id of anything in this list.");

/** Condition: in this scope and, if given, with these column values. */
export const scopeCondition = ({ project_id, environment }: Scope, below: Record<string, string> = {}): Condition => ({
  sql: ["project_id", "environment", ...Object.keys(below)].map((column) => `${column} = ?`).join(" AND "),
  values: [project_id, environment, ...Object.values(below)],
});
