import { ApiError } from "./api.ts";

/**
 * What the server said of one field, or of an entry of its list, without the wire name before it: the field's label says
 * which it is.
 */
export function faultOf(error: Error | null, field: string): string | null {
  if (!(error instanceof ApiError)) return null;
  const said = error.faults.find(({ param }) => param === field || param?.startsWith(`${field}[`));
  return said ? said.message.replace(`${said.param}: `, "") : null;
}

/** What is wrong with a draft, by its fields. */
export type Faults<Draft> = Partial<Record<keyof Draft, string | null>>;

/**
 * What the server said of each field of a draft, without the wire name before it: the field's label says which it is.
 * `rest` are those that no field shows.
 */
export function serverFaults<Draft extends object>(
  error: Error | null,
  draft: Draft,
  fieldOf: (param: string) => string | undefined = (param) => param.split(/[.[]/)[0],
): { faults: Faults<Draft>; rest: string[] } {
  const faults: Faults<Draft> = {};
  const rest: string[] = [];
  for (const { param, message } of error instanceof ApiError ? error.faults : []) {
    const field = fieldOf(param ?? "") as keyof Draft;
    if (!(field in draft)) rest.push(message);
    else faults[field] = [faults[field], message.replace(`${param}: `, "")].filter(Boolean).join(" ");
  }
  return { faults, rest };
}
