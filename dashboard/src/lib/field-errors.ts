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

/**
 * Returns the server's errors by field, without the API names: labels name the fields. `rest` are errors that no field
 * shows.
 */
export function serverFieldErrors<Draft extends object>(
  error: Error | null,
  draft: Draft,
  fieldOf: (param: string) => string | undefined = (param) => param.split(/[.[]/)[0],
): { faults: FieldErrors<Draft>; rest: string[] } {
  const faults: FieldErrors<Draft> = {};
  const rest: string[] = [];
  for (const { param, message } of error instanceof ApiError ? error.fieldErrors : []) {
    const field = fieldOf(param ?? "") as keyof Draft;
    if (!(field in draft)) rest.push(message);
    else faults[field] = [faults[field], message.replace(`${param}: `, "")].filter(Boolean).join(" ");
  }
  return { faults, rest };
}
