import type { SQLQueryBindings } from "bun:sqlite";
import { isObject } from "../../../lib/json.ts";

export type FilterValue = string | number | boolean;
type Comparison = "$eq" | "$ne" | "$gt" | "$gte" | "$lt" | "$lte";

/** A condition on an entry's metadata. */
export type Filter =
  | { all: Filter[] }
  | { any: Filter[] }
  | { field: string; is: Comparison; value: FilterValue }
  | { field: string; is: "$in"; values: FilterValue[] };

/** An error in a filter sent by a client, with its place. */
interface FilterFault {
  param: string;
  message: string;
}

const most = { depth: 5, terms: 50, values: 100, text: 512 };
const fieldPattern = /^[A-Za-z0-9_.-]{1,64}$/;
const comparisons: readonly string[] = ["$eq", "$ne", "$gt", "$gte", "$lt", "$lte"] satisfies Comparison[];
const ordering: readonly string[] = ["$gt", "$gte", "$lt", "$lte"];

/** Parses a filter; returns it, or all errors. */
export function checkFilter(value: unknown): Filter | FilterFault[] {
  const faults: FilterFault[] = [];
  let terms = 0;

  const fault = (at: string, message: string): Filter => {
    faults.push({ param: at, message });
    return { all: [] };
  };

  function group(from: unknown, at: string, depth: number): Filter {
    if (!isObject(from)) return fault(at, "must be an object.");
    if (depth > most.depth) return fault(at, `may not be nested deeper than ${most.depth}.`);
    return { all: Object.entries(from).flatMap(([name, inner]) => member(name, inner, `${at}.${name}`, depth)) };
  }

  function member(name: string, from: unknown, at: string, depth: number): Filter[] {
    if (name === "$and") return [{ all: list(from, at, depth) }];
    if (name === "$or") return [{ any: list(from, at, depth) }];
    if (!fieldPattern.test(name)) return [fault(at, "is neither $and, $or nor the name of a field.")];
    if (!isObject(from) || Object.keys(from).length === 0)
      return [fault(at, 'must be an object such as {"$eq": "value"}.')];
    return Object.entries(from).map(([is, operand]) => term(name, is, operand, `${at}.${is}`));
  }

  function list(from: unknown, at: string, depth: number): Filter[] {
    if (!Array.isArray(from) || from.length === 0 || from.length > most.terms) {
      fault(at, `must be an array of 1 to ${most.terms} filters.`);
      return [];
    }
    return from.map((each, index) => group(each, `${at}[${index}]`, depth + 1));
  }

  function term(field: string, is: string, operand: unknown, at: string): Filter {
    if (++terms === most.terms + 1) fault("filter", `may have no more than ${most.terms} comparisons.`);
    if (is === "$in") return { field, is, values: values(operand, at) };
    if (!comparisons.includes(is)) return fault(at, "is not one of $eq, $ne, $in, $gt, $gte, $lt, $lte.");
    const value = single(operand, at);
    if (ordering.includes(is) && typeof value === "boolean") return fault(at, "must be a number or a text.");
    return { field, is: is as Comparison, value };
  }

  function values(from: unknown, at: string): FilterValue[] {
    if (Array.isArray(from) && from.length <= most.values)
      return from.map((each, index) => single(each, `${at}[${index}]`));
    fault(at, `must be an array of at most ${most.values} values.`);
    return [];
  }

  function single(from: unknown, at: string): FilterValue {
    if (typeof from === "boolean" || (typeof from === "number" && Number.isFinite(from))) return from;
    if (typeof from !== "string") fault(at, "must be a text, a number or a boolean.");
    // A lone surrogate has no UTF-8 bytes, so the database would compare another text.
    else if (from.length > most.text || !from.isWellFormed())
      fault(at, `must be a text of at most ${most.text} whole characters.`);
    else return from;
    return "";
  }

  const filter = group(value, "filter", 1);
  return faults.length > 0 ? faults : filter;
}

/** An SQL condition with its bound values. */
export interface Condition {
  sql: string;
  values: SQLQueryBindings[];
}

/** Returns the SQL condition on a metadata column. Texts are compared only with texts, numbers only with numbers. */
export function conditionOf(filter: Filter, column: string): Condition {
  if ("all" in filter) return joined(filter.all, " AND ", "TRUE", column);
  if ("any" in filter) return joined(filter.any, " OR ", "FALSE", column);
  const path = `$."${filter.field}"`;
  if (filter.is === "$in")
    return joined(
      filter.values.map((value) => ({ ...filter, is: "$eq", value })),
      " OR ",
      "FALSE",
      column,
    );
  if (filter.is !== "$ne") return comparison(column, path, operators[filter.is], filter.value);
  const { sql, values } = comparison(column, path, "=", filter.value);
  return { sql: `(${sql}) IS NOT TRUE`, values };
}

const operators = { $eq: "=", $gt: ">", $gte: ">=", $lt: "<", $lte: "<=" };

function comparison(column: string, path: string, operator: string, value: FilterValue): Condition {
  const type = `json_type(${column}, ?)`;
  if (typeof value === "boolean") return { sql: `${type} = ?`, values: [path, String(value)] };
  const extracted = `json_extract(${column}, ?)`;
  if (typeof value === "string")
    return { sql: `(${type} = 'text' AND ${extracted} ${operator} ?)`, values: [path, path, value] };
  // SQLite parses both numbers, because its parser may round the last digit differently from JavaScript.
  return {
    sql: `(${type} IN ('integer', 'real') AND CAST(${extracted} AS REAL) ${operator} CAST(json_extract(?, '$') AS REAL))`,
    values: [path, path, JSON.stringify(value)],
  };
}

function joined(filters: readonly Filter[], by: string, none: string, column: string): Condition {
  if (filters.length === 0) return { sql: none, values: [] };
  const conditions = filters.map((each) => conditionOf(each, column));
  return { sql: `(${conditions.map(({ sql }) => sql).join(by)})`, values: conditions.flatMap(({ values }) => values) };
}
