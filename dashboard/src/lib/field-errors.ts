import { ApiError } from "./api.ts";

/**
 * Returns the server's error for a field or its list entries, without the API name at its start: the label names the
 * field.
 */
export function fieldErrorOf(error: Error | null, field: string): string | null {
  if (!(error instanceof ApiError)) return null;
  const said = error.fieldErrors.find(({ param }) => param === field || param?.startsWith(`${field}[`));
  return said ? said.message.replace(`${said.param}: `, "") : null;
}

/** Errors of a draft by field. */
export type FieldErrors<Draft> = Partial<Record<keyof Draft, string | null>>;

/** Returns the field of a parameter: the longest part of its path that a form has, such as `auth.scopes` of `auth.scopes[0]`. */
function fieldIn(param: string, draft: object): string | undefined {
  for (let path = param; path !== ""; path = path.slice(0, Math.max(path.lastIndexOf("."), path.lastIndexOf("["), 0)))
    if (Object.hasOwn(draft, path)) return path;
  return undefined;
}

/**
 * Returns the server's errors by field, without the API names: labels name the fields. `rest` are errors that no field
 * shows.
 */
export function serverFieldErrors<Draft extends object>(
  error: Error | null,
  draft: Draft,
  fieldOf: (param: string) => string | undefined = (param) => fieldIn(param, draft),
): { faults: FieldErrors<Draft>; rest: string[] } {
  const faults: FieldErrors<Draft> = {};
  const rest: string[] = [];
  for (const { param, message } of error instanceof ApiError ? error.fieldErrors : []) {
    const field = fieldOf(param ?? "") as keyof Draft | undefined;
    if (field === undefined || !Object.hasOwn(draft, field)) rest.push(message);
    else faults[field] = [faults[field], message.replace(`${param}: `, "")].filter(Boolean).join(" ");
  }
  return { faults, rest };
}
