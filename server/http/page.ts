import type { SQLQueryBindings } from "bun:sqlite";
import { AppError, type Fault } from "../core/errors.ts";
import type { Scope } from "../core/scope.ts";
import { readTimestamp } from "../core/time.ts";
import type { Db } from "../db/open.ts";
import { fault, validationError } from "./errors.ts";

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

/** What a filter may be: one of these values, or text of this form. Its name is the column's name. */
export type Filters = Record<string, readonly string[] | RegExp>;

const operators = { gt: ">", gte: ">=", lt: "<", lte: "<=" } as const;

/** Query parameters of every list, for a route's `permission`. */
export const pageParameters = [
  "limit",
  "starting_after",
  "ending_before",
  "order",
  ...Object.keys(operators).map((name) => `created_at[${name}]`),
  "metadata[*]",
] as const;

const emptyPage: Page = {
  limit: 20,
  starting_after: null,
  ending_before: null,
  order: "desc",
  created_at: [],
  metadata: [],
  filters: {},
};

/** Reads the parameters of a list from the address; throws with every fault that they have. */
export function readPage(url: string, filters: Filters = {}): Page {
  if (!url.includes("?")) return emptyPage;
  const page: Page = { ...emptyPage, created_at: [], metadata: [], filters: {} };
  const faults: Fault[] = [];
  const seen = new Set<string>();
  for (const [name, value] of new URL(url).searchParams) {
    const problem = seen.has(name) ? "This parameter is given twice." : readParameter(page, name, value, filters);
    if (problem) faults.push(fault(name, problem));
    seen.add(name);
  }
  if (page.starting_after !== null && page.ending_before !== null)
    faults.push(fault("ending_before", "Give either starting_after or ending_before."));
  if (faults.length > 0) throw validationError(faults.slice(0, 100));
  return page;
}

/** Puts one parameter into the page; what is wrong with it, or null. */
function readParameter(page: Page, name: string, value: string, filters: Filters): string | null {
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
  const fits = rule instanceof RegExp ? rule.test(value) : rule.includes(value);
  if (!fits) return rule instanceof RegExp ? "This is not a possible value." : `Expected one of ${rule.join(", ")}.`;
  page.filters[name] = value;
  return null;
}

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

export interface Condition {
  sql: string;
  values: SQLQueryBindings[];
}

export interface ListQuery {
  /** A table with id, project_id, environment, created_at_ms and metadata. */
  table: string;
  /** What to select; all columns by default. */
  columns?: string;
  scope: Scope;
  page: Page;
  /** What belongs to the list, where that is not just what stands in the scope. */
  within?: Condition;
  /** Conditions beyond the page's own. */
  where?: readonly Condition[];
}

export interface Rows<Row> {
  rows: Row[];
  has_more: boolean;
}

/**
 * One page of a table, by id: ids sort by their time of creation, so what is inserted or deleted between two pages
 * can neither repeat nor hide a row.
 */
export function listRows<Row>(
  { sqlite }: Pick<Db, "sqlite">,
  { table, columns = "*", scope, within = inScope(scope), page, where = [] }: ListQuery,
): Rows<Row> {
  const cursor = page.starting_after ?? page.ending_before;
  if (cursor !== null) requireCursor({ sqlite }, table, [within, ...where], cursor);
  const backwards = page.ending_before !== null;
  const descending = (page.order === "desc") !== backwards;
  const conditions: Condition[] = [
    within,
    ...(cursor === null ? [] : [{ sql: descending ? "id < ?" : "id > ?", values: [cursor] }]),
    ...page.created_at.map(({ operator, ms }) => ({ sql: `created_at_ms ${operator} ?`, values: [ms] })),
    ...page.metadata.map((pair) => ({
      sql: `EXISTS (SELECT 1 FROM json_each(${table}.metadata) WHERE key = ? AND value = ?)`,
      values: pair,
    })),
    ...Object.entries(page.filters).map(([column, value]) => ({ sql: `${column} = ?`, values: [value] })),
    ...where,
  ];
  const rows = sqlite
    .query<Row, SQLQueryBindings[]>(
      `SELECT ${columns} FROM ${table} WHERE ${conditions.map(({ sql }) => `(${sql})`).join(" AND ")}
       ORDER BY id ${descending ? "DESC" : "ASC"} LIMIT ?`,
    )
    .all(...conditions.flatMap(({ values }) => values), page.limit + 1);
  const has_more = rows.length > page.limit;
  if (has_more) rows.pop();
  if (backwards) rows.reverse();
  return { rows, has_more };
}

const inScope = ({ project_id, environment }: Scope): Condition => ({
  sql: "project_id = ? AND environment = ?",
  values: [project_id, environment],
});

// What the list leaves out for whoever asks is no cursor in it either, or cursors would tell that it exists.
function requireCursor({ sqlite }: Pick<Db, "sqlite">, table: string, where: readonly Condition[], id: string): void {
  const found = sqlite
    .query<unknown, SQLQueryBindings[]>(
      `SELECT 1 FROM ${table} WHERE ${where.map(({ sql }) => `(${sql})`).join(" AND ")} AND id = ?`,
    )
    .get(...where.flatMap(({ values }) => values), id);
  if (!found) throw new AppError("invalid_cursor", "The cursor is not the id of anything in this list.");
}

/** The body of a list. */
export function toList<Row, Item extends { id: string }>({ rows, has_more }: Rows<Row>, toItem: (row: Row) => Item) {
  const data = rows.map(toItem);
  return {
    object: "list" as const,
    data,
    has_more,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  };
}
