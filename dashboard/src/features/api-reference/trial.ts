import { query } from "../../lib/api.ts";
import type { ListedOperation } from "./list-operations.ts";

/** The input of the form that tries an operation. */
export interface Trial {
  /** Path and query parameters by name. */
  values: Record<string, string>;
  /** The body as text; null if the operation takes none. */
  body: string | null;
}

/** Returns the parameters that the form asks for: all except headers. */
export const formParameters = ({ parameters = [] }: ListedOperation) => parameters.filter((one) => one.in !== "header");

/** Returns the path and query, relative to a project and mode: `/runs/run_1?limit=5`. */
export function trialPath(operation: ListedOperation, { values }: Trial): string {
  const path = operation.path
    .replace(/^\/v1/, "")
    .replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name]?.trim() ?? ""));
  const queryParameters = formParameters(operation).filter(
    (one) => one.in === "query" && one.schema?.type !== "object",
  );
  return path + query(Object.fromEntries(queryParameters.map(({ name }) => [name, values[name]?.trim()])));
}

/** Returns why the request cannot be sent, or null if it can. */
export function trialFault(operation: ListedOperation, { values, body }: Trial): string | null {
  const missing = formParameters(operation).find((one) => one.required && !values[one.name]?.trim());
  if (missing) return `Fill in ${missing.name}.`;
  if (body === null) return null;
  try {
    JSON.parse(body);
    return null;
  } catch {
    return "The body is not JSON.";
  }
}
