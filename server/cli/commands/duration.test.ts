import { expect, test } from "bun:test";
import { readDuration } from "./duration.ts";

test.each([
  ["45s", 45],
  ["30m", 1800],
  ["12h", 43_200],
  ["90d", 7_776_000],
])("%s is %d seconds", (text, seconds) => {
  expect(readDuration(text, "--expires-in")).toBe(seconds);
});

test.each(["", "5", "5 m", "-5m", "1.5h", "1w", "0s", "3651d", "9999999999s", "5M"])("%p is not a duration", (text) => {
  expect(() => readDuration(text, "--expires-in")).toThrow(`--expires-in takes a time such as 45s`);
});

test("an absent duration stays undefined, and a flag may allow zero and set a maximum", () => {
  expect(readDuration(undefined, "--expires-in")).toBeUndefined();
  expect(readDuration("0s", "--overlap", { least: 0 })).toBe(0);
  expect(() => readDuration("2d", "--overlap", { most: 86_400 })).toThrow("to 1 days");
});
