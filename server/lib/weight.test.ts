import { expect, test } from "bun:test";
import { weightOf } from "./weight.ts";

test("a value weighs what its texts do, wherever they lie in it, and each member something", () => {
  const text = "x".repeat(1000);
  const short = weightOf({ a: [1, { b: "" }], c: null });
  expect(short).toBeGreaterThan(0);
  expect(weightOf({ a: [1, { b: text }], c: null }) - short).toBe(1000);
  expect(weightOf(Array(1000).fill(1))).toBeGreaterThan(weightOf([1]) + 999);
  expect(weightOf(undefined)).toBe(weightOf(null));
});
