import { expect, test } from "bun:test";
import { estimateJsonSize } from "./estimate-json-size.ts";

test("the estimate counts all texts of a value, at any depth, and a constant per member", () => {
  const text = "x".repeat(1000);
  const short = estimateJsonSize({ a: [1, { b: "" }], c: null });
  expect(short).toBeGreaterThan(0);
  expect(estimateJsonSize({ a: [1, { b: text }], c: null }) - short).toBe(1000);
  expect(estimateJsonSize(Array(1000).fill(1))).toBeGreaterThan(estimateJsonSize([1]) + 999);
  expect(estimateJsonSize(undefined)).toBe(estimateJsonSize(null));
});
