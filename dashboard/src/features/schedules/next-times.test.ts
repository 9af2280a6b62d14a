import { expect, test } from "bun:test";
import { nextTimes, zoneTime } from "./next-times.ts";

const after = Date.parse("2026-03-27T12:00:00Z");

test("times follow the zone's clock, also across daylight saving changes", () => {
  const times = nextTimes("0 9 * * *", "Europe/Berlin", after)!;
  expect(times.map((at) => new Date(at).toISOString())).toEqual([
    "2026-03-28T08:00:00.000Z",
    "2026-03-29T07:00:00.000Z",
    "2026-03-30T07:00:00.000Z",
    "2026-03-31T07:00:00.000Z",
    "2026-04-01T07:00:00.000Z",
  ]);
  expect(zoneTime(times[1]!, "Europe/Berlin")).toBe("Sun 29 Mar 2026, 09:00");
});

test("an invalid expression differs from one that never fires", () => {
  expect(nextTimes("soon", "UTC", after)).toBeNull();
  expect(nextTimes("0 9 * * *", "Berlin", after)).toBeNull();
  expect(nextTimes("0 9 30 2 *", "UTC", after)).toEqual([]);
});
