import { expect, test } from "bun:test";
import { backoff, retryAfter, sleep } from "./retry.ts";

test.each([
  [1, 250, 500],
  [2, 500, 1000],
  [4, 2000, 4000],
  [50, 30_000, 60_000],
])("after failed attempt %i the wait is between %i and %i ms", (attempt, least, most) => {
  const waits = Array.from({ length: 200 }, () => backoff(attempt, null));
  expect(Math.min(...waits)).toBeGreaterThanOrEqual(least);
  expect(Math.max(...waits)).toBeLessThanOrEqual(most);
  expect(new Set(waits).size).toBeGreaterThan(1);
});

test("the other side's delay wins over ours, up to a minute", () => {
  expect([backoff(9, 0), backoff(1, 1234), backoff(1, 3_600_000)]).toEqual([0, 1234, 60_000]);
});

test.each<[string | null | undefined, number | null]>([
  [null, null],
  [undefined, null],
  ["", null],
  ["soon", null],
  ["0", 0],
  [" 2 ", 2000],
  ["0.25", 250],
  ["Thu, 01 Jan 2026 00:00:05 GMT", 5000],
  ["Thu, 01 Jan 2015 00:00:00 GMT", 0],
])("Retry-After %j is %j milliseconds", (value, expected) => {
  expect(retryAfter(value, Date.UTC(2026, 0, 1))).toBe(expected);
});

test("a signal ends a sleep, and prevents it if aborted before", async () => {
  const abort = new AbortController();
  const asleep = sleep(3_600_000, abort.signal);
  abort.abort();
  await asleep;
  await sleep(3_600_000, abort.signal);
  await sleep(0, new AbortController().signal);
  await sleep(1, new AbortController().signal);
});
