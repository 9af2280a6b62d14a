import { invalid } from "../../../http/errors.ts";
import { ownValue } from "../../../lib/collections.ts";

const comparisons: Record<string, string> = {
  eq: "$eq",
  ne: "$ne",
  gt: "$gt",
  gte: "$gte",
  lt: "$lt",
  lte: "$lte",
  in: "$in",
};

interface Filter {
  type?: unknown;
  key?: unknown;
  value?: unknown;
  filters?: unknown;
}

/** Converts an OpenAI filter to the API's format. Throws if it is none; the API checks its values. */
export function filterOf(filter: unknown, param = "filters"): object {
  const { type, key, value, filters } = (typeof filter === "object" && filter !== null ? filter : {}) as Filter;
  if (type === "and" || type === "or") {
    if (!Array.isArray(filters)) throw invalid(`${param}.filters`, "Must be a list.");
    return { [`$${type}`]: filters.map((one, index) => filterOf(one, `${param}.filters[${index}]`)) };
  }
  if (typeof key !== "string") throw invalid(`${param}.key`, "Must be the name of an attribute.");
  if (type === "nin") {
    if (!Array.isArray(value)) throw invalid(`${param}.value`, "Must be a list.");
    return { $and: value.map((one) => ({ [key]: { $ne: one } })) };
  }
  const comparison = typeof type === "string" && ownValue(comparisons, type);
  if (!comparison)
    throw invalid(`${param}.type`, `Must be one of ${[...Object.keys(comparisons), "nin", "and", "or"].join(", ")}.`);
  return { [key]: { [comparison]: value } };
}
