import { query } from "../../lib/api.ts";
import type { Listed } from "./list-operations.ts";

/** What somebody filled in to try an operation. */
export interface Trial {
  /** Parameters of the path and of the query, by their names. */
  values: Record<string, string>;
  /** The body as text; null where the operation takes none. */
  body: string | null;
}

/** Parameters that are filled in; headers have their defaults. */
export const fillable = ({ parameters = [] }: Listed) => parameters.filter((one) => one.in !== "header");

/** The address of the operation below a project and mode: `/runs/run_1?limit=5`. */
export function trialPath(operation: Listed, { values }: Trial): string {
  const path = operation.path
    .replace(/^\/v1/, "")
    .replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name]?.trim() ?? ""));
  const asked = fillable(operation).filter((one) => one.in === "query" && one.schema?.type !== "object");
  return path + query(Object.fromEntries(asked.map(({ name }) => [name, values[name]?.trim()])));
}

/** Why it cannot be sent; null where it can. */
export function trialFault(operation: Listed, { values, body }: Trial): string | null {
  const missing = fillable(operation).find((one) => one.required && !values[one.name]?.trim());
  if (missing) return `Fill in ${missing.name}.`;
  if (body === null) return null;
  try {
    JSON.parse(body);
    return null;
  } catch {
    return "The body is not JSON.";
  }
}
