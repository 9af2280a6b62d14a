import { expect, test } from "bun:test";
import { changedValues, nestDottedNames, toAmount, toValue } from "./amount.ts";

test.each([
  [null, 600, { choice: "unset", text: "600" }],
  [null, null, { choice: "unset", text: "" }],
  [0, 600, { choice: "off", text: "" }],
  [50, 600, { choice: "own", text: "50" }],
] as const)("%p with the default %p is shown and parsed back unchanged", (value, usual, amount) => {
  expect(toAmount(value, usual)).toEqual(amount);
  expect(toValue(amount)).toBe(value);
});

test.each(["", " ", "abc", "1.5", "1e3", "1,000", "0x10", "9".repeat(16)])("%p is no number", (text) => {
  expect(toValue({ choice: "own", text })).toBeUndefined();
});

test.each([
  ["19.99", 19.99],
  ["20", 20],
  ["0.000001", 0.000001],
  ["1.", undefined],
  [".5", undefined],
  ["1,5", undefined],
  ["0.0000001", undefined],
  ["1e3", undefined],
])("%p with a fraction is %p", (text, value) => {
  expect(toValue({ choice: "own", text }, true)).toBe(value);
});

test("only values that differ from the saved ones are changes, and invalid numbers cannot be sent", () => {
  const edited = {
    same: toAmount(5, 600),
    back: toAmount(null, 600),
    more: toAmount(7, 600),
    broken: { choice: "own", text: "many" } as const,
  };
  expect(changedValues({ same: 5, back: 5, more: 5, broken: 5, untouched: 5 }, edited)).toEqual({
    back: null,
    more: 7,
    broken: undefined,
  });
});

test("dotted names become nested objects", () => {
  expect(nestDottedNames({ a: 1, "live.runs_days": 30, "live.traces_days": null })).toEqual({
    a: 1,
    live: { runs_days: 30, traces_days: null },
  });
});
