import { expect, test } from "bun:test";
import { createLogSampler } from "./log-sampler.ts";

test("a window logs some events and then the number of further ones", () => {
  let at = 1_000_000;
  const sample = createLogSampler({ most: 30, window_ms: 60_000, now: () => at });
  const take = (count: number) => Array.from({ length: count }, () => sample.take());
  expect(take(33)).toEqual([...Array(30).fill({}), null, null, null]);
  at += 59_999;
  expect(take(1)).toEqual([null]);
  at += 1;
  expect(take(2)).toEqual([{ not_noted: 4 }, {}]);
  at -= 3_600_000; // The clock was set back.
  expect(take(31)).toEqual([...Array(30).fill({}), null]);
});
