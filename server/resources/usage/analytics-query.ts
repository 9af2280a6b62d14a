import { Type } from "@sinclair/typebox";
import { type AnalyticsGrouping, analyticsGroupings, buckets } from "../../domain/api-types/enums.ts";
import { dayExpected } from "../../domain/error-messages.ts";
import type { Fault } from "../../domain/errors.ts";
import { isId } from "../../domain/ids.ts";
import { readTimestamp } from "../../domain/time.ts";
import { fault, throwIfInvalid } from "../../http/errors.ts";
import { idOf } from "../../http/schemas.ts";
import { about, oneOf } from "../../lib/schema.ts";
import { type Unit, units } from "./count-runs.ts";

/** Period from the start of an hour or day to the end of the last one. */
export interface AnalyticsQuery {
  from_ms: number;
  to_ms: number;
  unit: Unit;
  group_by: AnalyticsGrouping;
  agent_id: string | null;
  name: string | null;
}

/** Most hours or days in one response. */
const mostBuckets = 750;
const defaultDays = 30;
const longestName = 256;
/** Shorter periods are grouped by hour. */
const hourlyUpTo_ms = 3 * units.day;

const time = "^\\d{4}-\\d\\d-\\d\\d([Tt].+)?$";
export const analyticsParameters = {
  from: Type.String({ pattern: time, description: "From when on: a day (UTC), or a time. Default: 30 days ago." }),
  to: Type.String({ pattern: time, description: "Until when: the last day (UTC), or a time. Default: now." }),
  bucket: oneOf(buckets, {
    description: "How long a point of a series is. Default: `hour` for up to three days, else `day`.",
  }),
  group_by: oneOf(analyticsGroupings, { default: "model", description: "What a series is about." }),
  agent_id: about("Only items of this agent.", idOf("agent")),
  name: Type.String({ minLength: 1, maxLength: longestName, description: "Only the series of this name." }),
};

/** Parses the parameters. Throws with every fault. */
export function readAnalyticsQuery(url: string, now: number): AnalyticsQuery {
  const query = new URL(url).searchParams;
  const faults: Fault[] = [];
  const day = /^\d{4}-\d\d-\d\d$/;
  const read = (name: string, isEnd: boolean): number | null => {
    const text = query.get(name);
    if (text === null) return null;
    const ms = readTimestamp(day.test(text) ? `${text}T00:00:00Z` : text);
    if (ms === null) faults.push(fault(name, dayExpected));
    // A final day is included as a whole.
    return ms !== null && isEnd && day.test(text) ? ms + units.day : ms;
  };
  const word = <T extends string>(name: string, words: readonly T[]): T | null => {
    const text = query.get(name);
    const found = words.find((each) => each === text) ?? null;
    if (text !== null && found === null) faults.push(fault(name, `Must be one of ${words.join(", ")}.`));
    return found;
  };
  const [first, last] = [read("from", false), read("to", true)];
  const agent_id = query.get("agent_id");
  if (agent_id !== null && !isId("agent", agent_id)) faults.push(fault("agent_id", "Must be the id of an agent."));
  const name = query.get("name");
  if (name !== null && (name === "" || name.length > longestName))
    faults.push(fault("name", `Must have 1 to ${longestName} characters.`));
  const group_by = word("group_by", analyticsGroupings) ?? "model";
  const bucket = word("bucket", buckets);
  const to = last ?? Math.max(now, first ?? 0);
  const from = first ?? to - defaultDays * units.day;
  const unit = bucket ?? (to - from <= hourlyUpTo_ms ? "hour" : "day");
  const from_ms = Math.floor(from / units[unit]) * units[unit];
  const to_ms = Math.ceil(to / units[unit]) * units[unit];
  if (faults.length === 0 && from >= to) faults.push(fault("to", "This is not after from."));
  if (faults.length === 0 && (to_ms - from_ms) / units[unit] > mostBuckets)
    faults.push(fault("from", `At most ${mostBuckets} buckets can be asked for at once; a day is a longer one.`));
  throwIfInvalid(faults);
  return { from_ms, to_ms, unit, group_by, agent_id, name };
}
