import { ApiError } from "../../../lib/api.ts";

/** What the server said of one parameter, without its wire name before it: the field's label says which it is. */
export function faultOf(error: Error | null, param: string): string | null {
  if (!(error instanceof ApiError)) return null;
  const said = error.faults.find((fault) => fault.param === param)?.message;
  return said?.replace(`${param}: `, "") ?? null;
}
