import type { Filter, FilterValue } from "./filter.ts";

/** True if metadata matches the filter: the counterpart of `conditionOf` in memory. */
export function matchesFilter(filter: Filter, metadata: Readonly<Record<string, FilterValue>>): boolean {
  if ("all" in filter) return filter.all.every((each) => matchesFilter(each, metadata));
  if ("any" in filter) return filter.any.some((each) => matchesFilter(each, metadata));
  const value = Object.hasOwn(metadata, filter.field) ? metadata[filter.field] : undefined;
  if (filter.is === "$in") return filter.values.some((each) => each === value);
  if (filter.is === "$eq") return value === filter.value;
  if (filter.is === "$ne") return value !== filter.value;
  if (value === undefined || typeof value !== typeof filter.value) return false;
  const order = compare(value, filter.value);
  if (filter.is === "$gt") return order > 0;
  if (filter.is === "$gte") return order >= 0;
  return filter.is === "$lt" ? order < 0 : order <= 0;
}

/** Compares texts by their UTF-8 bytes, as the database does. */
function compare(a: FilterValue, b: FilterValue): number {
  return typeof a === "string" ? Buffer.compare(Buffer.from(a), Buffer.from(String(b))) : Number(a) - Number(b);
}
