import { Cron } from "croner";
import type { Fault } from "../../domain/errors.ts";
import { fault } from "../../http/errors.ts";

const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const days = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

interface Field {
  name: string;
  min: number;
  max: number;
  words: readonly string[];
}

const fields: readonly Field[] = [
  { name: "minute", min: 0, max: 59, words: [] },
  { name: "hour", min: 0, max: 23, words: [] },
  { name: "day of month", min: 1, max: 31, words: [] },
  { name: "month", min: 1, max: 12, words: months },
  { name: "day of week", min: 0, max: 7, words: days },
];

/** A cron expression with five fields, evaluated in local time of a time zone. */
interface Timetable {
  cron: string;
  timezone: string;
}

/**
 * Times after `after`, in order; fewer than `count` if there are no more. In spring, a fixed time that is skipped fires
 * after the change; in autumn, a repeated one fires once. `*` and steps follow real time.
 */
export const nextTimes = ({ cron, timezone }: Timetable, after: number, count: number): number[] =>
  new Cron(cron, { timezone, mode: "5-part", fixedTimeRule: "no-wildcard" })
    .nextRuns(count, new Date(after))
    .map((time) => time.getTime());

/** Latest time from `first`, itself one, up to `now`. Binary search, because many times may lie between. */
export function latestTime(timetable: Timetable, first: number, now: number): number {
  let [latest, end] = [first, now];
  while (end > latest) {
    const middle = Math.floor((latest + end) / 2);
    const [next = Number.POSITIVE_INFINITY] = nextTimes(timetable, middle, 1);
    if (next <= now) latest = next;
    else end = middle;
  }
  return latest;
}

/** Faults of a cron expression and its time zone; also one that never fires is a fault. */
export function timetableFaults(timetable: Timetable, now: number): Fault[] {
  const faults = [...cronFaults(timetable.cron), ...zoneFaults(timetable.timezone)];
  if (faults.length > 0) return faults;
  try {
    if (nextTimes(timetable, now, 1).length > 0) return [];
    return [fault("cron", "This date does not exist, so it would never run.", "cron_never_fires")];
  } catch {
    return [invalid("This is not a valid cron expression.")];
  }
}

const invalid = (sentence: string): Fault => fault("cron", sentence, "invalid_cron");

function cronFaults(cron: string): Fault[] {
  const parts = cron.trim().split(/\s+/);
  if (parts.length === 6 || parts.length === 7)
    return [fault("cron", `Seconds and years are not supported. ${expected}`, "cron_seconds")];
  if (parts.length !== 5) return [invalid(expected)];
  const problems = fields.flatMap((field, index) => problemOf(parts[index] ?? "", field) ?? []);
  return problems.slice(0, 1).map(invalid);
}

const expected = "Must have five fields: minute, hour, day of month, month, day of week.";

function problemOf(text: string, field: Field): string | null {
  for (const part of text.split(",")) {
    const [, range = "", step] = /^([^/]+)(?:\/(\d{1,2}))?$/.exec(part) ?? [];
    const [from, to, ...more] =
      range === "*" ? [field.min, field.max] : range.split("-").map((word) => numberOf(word, field));
    if (from == null || to === null || more.length > 0)
      return `"${part.slice(0, 40)}" is no ${field.name}: expected *, ${field.min}-${field.max}, lists, ranges and steps of them.`;
    if (to !== undefined && from > to) return `"${range}": a range of the ${field.name} begins with the lower end.`;
    if (step !== undefined && (to === undefined || Number(step) < 1 || Number(step) > field.max))
      return `"${part}": a step follows * or a range, and goes from 1 to ${field.max}.`;
  }
  return null;
}

function numberOf(word: string, { min, max, words }: Field): number | null {
  const place = words.indexOf(word.toLowerCase());
  if (place >= 0) return place + min;
  const value = /^\d{1,2}$/.test(word) ? Number(word) : Number.NaN;
  return value >= min && value <= max ? value : null;
}

function zoneFaults(timezone: string): Fault[] {
  // Offsets are refused, because they have no daylight saving time, which is rarely intended.
  if (/^[a-z][\w+/-]*$/i.test(timezone) && isZone(timezone)) return [];
  return [
    fault("timezone", "Must be a name of the IANA time zone database, such as Europe/Berlin.", "invalid_timezone"),
  ];
}

function isZone(timeZone: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}
