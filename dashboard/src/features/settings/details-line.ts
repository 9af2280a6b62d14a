import { formatDay } from "../../lib/format.ts";

const time = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

/** Formats the details of an audit entry in one line: `name: Support, version: 3`. */
export const detailsLine = (details: Record<string, unknown>): string =>
  Object.entries(details)
    .map(([name, value]) => `${name.replaceAll("_", " ")}: ${formatValue(value)}`)
    .join(", ");

function formatValue(value: unknown): string {
  if (Array.isArray(value)) return value.map(formatValue).join(" ") || "none";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value !== "string") return JSON.stringify(value);
  return time.test(value) ? formatDay(value) : value;
}
