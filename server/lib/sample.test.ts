import { expect, test } from "bun:test";
import { createSample } from "./sample.ts";

test("some in a window are noted, and then how many more there were", () => {
  let at = 1_000_000;
  const sample = createSample({ most: 30, window_ms: 60_000, now: () => at });
  const take = (count: number) => Array.from({ length: count }, () => sample.take());
  expect(take(33)).toEqual([...Array(30).fill({}), null, null, null]);
  at += 59_999;
  expect(take(1)).toEqual([null]);
  at += 1;
  expect(take(2)).toEqual([{ not_noted: 4 }, {}]);
  at -= 3_600_000; // The clock was set back.
  expect(take(31)).toEqual([...Array(30).fill({}), null]);
});
