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
