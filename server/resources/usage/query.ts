import { Type } from "@sinclair/typebox";
import { type UsageGrouping, usageGroupings } from "../../domain/api-types/enums.ts";
import { dayExpected } from "../../domain/error-messages.ts";
import type { Fault } from "../../domain/errors.ts";
import { readTimestamp, timestamp } from "../../domain/time.ts";
import { fault, validationError } from "../../http/errors.ts";
import { requireValue } from "../../lib/require-value.ts";
import { about, oneOf } from "../../lib/schema.ts";
import { dayOf } from "./usage-projection.ts";

/** First and last day (UTC), both included. */
export interface UsageQuery {
  from: string;
  to: string;
  group_by: UsageGrouping;
}

const day_ms = 24 * 3_600_000;
const daysMax = 366;
const defaultDays = 30;

const day = "^\\d{4}-\\d\\d-\\d\\d([Tt].+)?$";
export const usageParameters = {
  from: Type.String({ pattern: day, description: "The first day (UTC), or a time in it." }),
  to: Type.String({ pattern: day, description: "The last day." }),
  group_by: about("What the usage is grouped by.", oneOf(usageGroupings, { default: "day" })),
};

/** Parses `?from=&to=&group_by=`; default: the last 30 days, by day. Throws with every fault. */
export function readUsageQuery(url: string, now: number): UsageQuery {
  const query = new URL(url).searchParams;
  const faults: Fault[] = [];
  const read = (name: string): number | null => {
    const text = query.get(name);
    if (text === null) return null;
    const day = readDay(text);
    if (day === null) faults.push(fault(name, dayExpected));
    return day;
  };
  const [first, last] = [read("from"), read("to")];
  const group_by = query.get("group_by") ?? "day";
  if (!isGrouping(group_by)) faults.push(fault("group_by", `Must be one of ${usageGroupings.join(", ")}.`));
  const to = last ?? Math.max(requireValue(readDay(dayOf(now)), "Today"), first ?? 0);
  const from = first ?? to - (defaultDays - 1) * day_ms;
  if (faults.length === 0 && from > to) faults.push(fault("to", "This is before from."));
  if (faults.length === 0 && (to - from) / day_ms >= daysMax)
    faults.push(fault("from", `At most ${daysMax} days can be asked for at once.`));
  if (faults.length > 0 || !isGrouping(group_by)) throw validationError(faults);
  return { from: dayOf(from), to: dayOf(to), group_by };
}

const isGrouping = (text: string): text is UsageGrouping => usageGroupings.some((known) => known === text);

/** Start of a day in UTC, from a day or a time. */
function readDay(text: string): number | null {
  const ms = readTimestamp(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text);
  return ms === null ? null : readTimestamp(`${timestamp(ms).slice(0, 10)}T00:00:00Z`);
}
