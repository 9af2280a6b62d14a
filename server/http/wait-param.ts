import { Type } from "@sinclair/typebox";
import { about } from "../lib/schema.ts";
import { cachedQuery } from "./cached-query.ts";
import { invalid } from "./errors.ts";

export const Wait = about(
  "How many seconds the response may wait for the run to end.",
  Type.Integer({ minimum: 0, maximum: 60, default: 0 }),
);

/** Reads `?wait=`: seconds that a response may wait for the work to end. */
export function readWaitParam(url: string): number {
  const wait = cachedQuery(url).get("wait");
  if (wait === null) return 0;
  if (!/^\d{1,2}$/.test(wait) || Number(wait) > 60) throw invalid("wait", "Must be a number of seconds from 0 to 60.");
  return Number(wait);
}
