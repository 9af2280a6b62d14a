import { Type } from "@sinclair/typebox";
import { invalid } from "./errors.ts";
import { queryOf } from "./query-of.ts";

export const Wait = Type.Integer({ minimum: 0, maximum: 60, default: 0 });

/** Seconds that an answer may wait for the end of what was begun, from `?wait=`. */
export function readWait(url: string): number {
  const wait = queryOf(url).get("wait");
  if (wait === null) return 0;
  if (!/^\d{1,2}$/.test(wait) || Number(wait) > 60) throw invalid("wait", "Expected seconds from 0 to 60.");
  return Number(wait);
}
