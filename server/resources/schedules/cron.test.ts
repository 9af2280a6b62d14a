import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { latestTime, nextTimes, timetableFaults } from "./cron.ts";

const minute_ms = 60_000;
const day_ms = 24 * 60 * minute_ms;
const at = (text: string): number => Date.parse(`${text}Z`);
const shown = (times: readonly number[]) => times.map((time) => new Date(time).toISOString().slice(0, 16));

const berlin = "Europe/Berlin";
const newYork = "America/New_York";
const lordHowe = "Australia/Lord_Howe";

describe("clocks that jump in spring", () => {
  test.each([
    [berlin, "30 2 * * *", "2026-03-28T12:00", ["2026-03-29T01:00", "2026-03-30T00:30"]],
    [newYork, "30 2 * * *", "2026-03-07T12:00", ["2026-03-08T07:00", "2026-03-09T06:30"]],
    // Half an hour is skipped there, from two o'clock on.
    [lordHowe, "15 2 * * *", "2026-10-02T18:00", ["2026-10-03T15:30", "2026-10-04T15:15"]],
    ["UTC", "30 2 * * *", "2026-03-28T12:00", ["2026-03-29T02:30", "2026-03-30T02:30"]],
  ])("%s: a fixed time that is skipped (%s) fires when the clocks have jumped", (timezone, cron, after, times) => {
    expect(shown(nextTimes({ cron, timezone }, at(after), 2))).toEqual(times);
  });

  test("several skipped times fire once", () => {
    const times = nextTimes({ cron: "0,15,30 2 * * *", timezone: berlin }, at("2026-03-29T00:00"), 2);
    expect(shown(times)).toEqual(["2026-03-29T01:00", "2026-03-30T00:00"]);
  });

  test("intervals follow real time", () => {
    const times = nextTimes({ cron: "*/30 * * * *", timezone: berlin }, at("2026-03-29T00:00"), 3);
    expect(shown(times)).toEqual(["2026-03-29T00:30", "2026-03-29T01:00", "2026-03-29T01:30"]);
  });
});

describe("clocks that go back in autumn", () => {
  test.each([
    [berlin, "30 2 * * *", "2026-10-24T12:00", ["2026-10-25T00:30", "2026-10-26T01:30"]],
    [newYork, "30 1 * * *", "2026-10-31T12:00", ["2026-11-01T05:30", "2026-11-02T06:30"]],
    [lordHowe, "45 1 * * *", "2026-04-04T12:00", ["2026-04-04T14:45", "2026-04-05T15:15"]],
    ["UTC", "30 2 * * *", "2026-10-24T12:00", ["2026-10-25T02:30", "2026-10-26T02:30"]],
  ])("%s: a fixed time that occurs twice (%s) fires once", (timezone, cron, after, times) => {
    expect(shown(nextTimes({ cron, timezone }, at(after), 2))).toEqual(times);
  });

  test("a repeated time does not fire again if the next time is computed in between", () => {
    const [next] = nextTimes({ cron: "30 2 * * *", timezone: berlin }, at("2026-10-25T00:45"), 1);
    expect(shown([next!])).toEqual(["2026-10-26T01:30"]);
  });

  test("every hour means every hour", () => {
    const times = nextTimes({ cron: "0 * * * *", timezone: berlin }, at("2026-10-24T23:30"), 3);
    expect(shown(times)).toEqual(["2026-10-25T00:00", "2026-10-25T01:00", "2026-10-25T02:00"]);
  });
});

// --- Comparison by minute --------------------------------------------------------------------------------------------
// The same times by another method: read the wall clock in every minute, and compare.

const formats = new Map<string, Intl.DateTimeFormat>();
const names = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

interface Wall {
  /** The wall time as if it were UTC, to compare two of them. */
  ms: number;
  parts: [minute: number, hour: number, day: number, month: number, weekday: number];
}

function wallAt(timezone: string, time: number): Wall {
  const known = formats.get(timezone);
  const numeric = "numeric" as const;
  const format =
    known ??
    new Intl.DateTimeFormat("en-US", {
      timeZone: timezone,
      hourCycle: "h23",
      weekday: "short",
      year: numeric,
      month: numeric,
      day: numeric,
      hour: numeric,
      minute: numeric,
    });
  if (!known) formats.set(timezone, format);
  const found = Object.fromEntries(format.formatToParts(time).map(({ type, value }) => [type, value]));
  const [year, month, day, hour, minute] = ["year", "month", "day", "hour", "minute"].map((name) =>
    Number(found[name]),
  );
  return {
    ms: Date.UTC(year!, month! - 1, day!, hour!, minute!),
    parts: [minute!, hour!, day!, month!, names.indexOf(found.weekday!)],
  };
}

const wallOf = (ms: number): Wall => wallAt("UTC", ms);

function holds(text: string, value: number, max: number): boolean {
  return text.split(",").some((part) => {
    const [range = "", step = "1"] = part.split("/");
    const [from = "", to = from] = range === "*" ? ["0", String(max)] : range.split("-");
    const first = range === "*" && max !== 59 && max !== 23 && max !== 6 ? 1 : Number(from);
    return value >= first && value <= Number(to) && (value - first) % Number(step) === 0;
  });
}

function matches(cron: string, { parts }: Wall): boolean {
  const [minute, hour, day, month, weekday] = cron.split(" ") as [string, string, string, string, string];
  if (!holds(minute, parts[0], 59) || !holds(hour, parts[1], 23) || !holds(month, parts[3], 12)) return false;
  const byDay = holds(day, parts[2], 31);
  const byWeekday = holds(weekday, parts[4], 6) || (parts[4] === 0 && holds(weekday, 7, 7) && weekday !== "*");
  return day !== "*" && weekday !== "*" ? byDay || byWeekday : byDay && byWeekday;
}

/** Returns every minute of these days in which the schedule fires. */
function scan(cron: string, timezone: string, from: number, to: number): number[] {
  const isFixed = !/[*/]/.test(cron.split(" ").slice(0, 2).join(" "));
  const times: number[] = [];
  // The latest wall time so far, from before the beginning, because the clocks may have gone back there.
  let latest = wallAt(timezone, from - 2 * 60 * minute_ms - minute_ms).ms;
  for (let time = from - 2 * 60 * minute_ms; time <= to; time += minute_ms) {
    const wall = wallAt(timezone, time);
    const isAgain = wall.ms <= latest;
    let fires = matches(cron, wall) && !(isFixed && isAgain);
    if (isFixed)
      for (let left = latest + minute_ms; left < wall.ms; left += minute_ms) fires ||= matches(cron, wallOf(left));
    if (fires && time > from) times.push(time);
    latest = Math.max(latest, wall.ms);
  }
  return times;
}

const upTo = (min: number, max: number) => fc.integer({ min, max });
const one = (min: number, max: number) => upTo(min, max).map(String);
const range = (min: number, max: number) =>
  fc.tuple(upTo(min, max), upTo(min, max)).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`);
const list = (min: number, max: number) =>
  fc.array(fc.oneof(one(min, max), range(min, max)), { minLength: 1, maxLength: 3 }).map((parts) => parts.join(","));
const stepped = (min: number, max: number, most: number) =>
  fc.tuple(fc.oneof(fc.constant("*"), range(min, max)), upTo(1, most)).map(([of, step]) => `${of}/${step}`);
const star = fc.constant("*");

const crons = fc
  .tuple(
    fc.oneof(one(0, 59), list(0, 59), stepped(0, 59, 30), star),
    fc.oneof(one(0, 4), list(0, 4), stepped(0, 23, 6), star),
    fc.oneof({ weight: 3, arbitrary: star }, { weight: 1, arbitrary: list(1, 31) }),
    star,
    fc.oneof({ weight: 3, arbitrary: star }, { weight: 1, arbitrary: list(0, 7) }),
  )
  .map((fields) => fields.join(" "));

/** Days around which a zone's clocks change, and ordinary ones. */
const moments: [timezone: string, day: string][] = [
  [berlin, "2026-03-29"],
  [berlin, "2026-10-25"],
  [newYork, "2026-03-08"],
  [newYork, "2026-11-01"],
  [lordHowe, "2026-04-05"],
  [lordHowe, "2026-10-04"],
  ["America/Santiago", "2026-09-06"], // The change is at midnight.
  ["America/Santiago", "2026-04-05"],
  ["Asia/Kathmandu", "2026-05-01"],
  ["UTC", "2026-02-28"],
];

test("the next times equal those found by reading the wall clock in every minute", () => {
  fc.assert(
    fc.property(crons, fc.constantFrom(...moments), upTo(0, 36 * 60), (cron, [timezone, day], early) => {
      const from = at(`${day}T12:00`) - early * minute_ms;
      const found = scan(cron, timezone, from, from + 2 * day_ms);
      const next = nextTimes({ cron, timezone }, from, found.length + 1);
      expect({ cron, timezone, times: shown(next.slice(0, found.length)) }).toEqual({
        cron,
        timezone,
        times: shown(found),
      });
      if (next[found.length] !== undefined) expect(next[found.length]).toBeGreaterThan(from + 2 * day_ms);
    }),
    { numRuns: 60 },
  );
}, 60_000);

test("the latest time is the last one that has passed", () => {
  fc.assert(
    fc.property(crons, fc.constantFrom(...moments), upTo(1, 300), (cron, [timezone, day], count) => {
      const times = nextTimes({ cron, timezone }, at(`${day}T00:00`) - day_ms, count);
      if (times.length === 0) return;
      expect(latestTime({ cron, timezone }, times[0]!, times.at(-1)! + 59_000)).toBe(times.at(-1)!);
    }),
    { numRuns: 40 },
  );
}, 60_000);

// --- Invalid expressions ---------------------------------------------------------------------------------------------

test.each([
  ["* * * * *", "Europe/Berlin"],
  ["0 9 * * MON-FRI", "UTC"],
  ["*/15 8-18/2 1,15 jan-jun 7", "America/Argentina/Buenos_Aires"],
  ["0 0 29 2 *", "Etc/GMT+5"],
  ["  5  4 * * sun ", "UTC"],
])("%p in %s is a valid timetable", (cron, timezone) => {
  expect(timetableFaults({ cron, timezone }, at("2026-11-21T00:00"))).toEqual([]);
});

test.each([
  ["", "invalid_cron"],
  ["* * * *", "invalid_cron"],
  ["*/5 * * * * *", "cron_seconds"],
  ["0 0 0 1 1 * 2030", "cron_seconds"],
  ["60 * * * *", "invalid_cron"],
  ["* 24 * * *", "invalid_cron"],
  ["* * 0 * *", "invalid_cron"],
  ["* * 32 * *", "invalid_cron"],
  ["* * * 13 *", "invalid_cron"],
  ["* * * * 8", "invalid_cron"],
  ["*/0 * * * *", "invalid_cron"],
  ["*/99 * * * *", "invalid_cron"],
  ["5/15 * * * *", "invalid_cron"],
  ["30-10 * * * *", "invalid_cron"],
  ["1-2-3 * * * *", "invalid_cron"],
  ["1,,2 * * * *", "invalid_cron"],
  ["-1 * * * *", "invalid_cron"],
  ["* * L * *", "invalid_cron"],
  ["* * * * mon#1", "invalid_cron"],
  ["? * * * *", "invalid_cron"],
  ["@daily", "invalid_cron"],
  ["2026-11-21T00:00:00", "invalid_cron"],
  ["0 0 30 2 *", "cron_never_fires"],
  ["0 0 31 2,4,6,9,11 *", "cron_never_fires"],
])("%p is refused as %s", (cron, code) => {
  expect(timetableFaults({ cron, timezone: "UTC" }, at("2026-11-21T00:00")).map((fault) => fault.code)).toEqual([code]);
});

test.each(["", "Mars/Olympus", "+01:00", "UTC+1", "../etc/passwd", "Europe"])("the zone %p is refused", (timezone) => {
  const faults = timetableFaults({ cron: "0 9 * * *", timezone }, at("2026-11-21T00:00"));
  expect(faults.map(({ param, code }) => ({ param, code }))).toEqual([{ param: "timezone", code: "invalid_timezone" }]);
});
