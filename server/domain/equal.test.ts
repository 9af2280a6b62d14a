import { expect, test } from "bun:test";
import { equalJson } from "./equal.ts";

test.each([
  [1, 1, true],
  [null, null, true],
  ["1", 1, false],
  [null, {}, false],
  [[], {}, false],
  [[1, [2]], [1, [2]], true],
  [[1, 2], [2, 1], false],
  [{ a: 1, b: { c: [1] } }, { b: { c: [1] }, a: 1 }, true],
  [{ a: 1 }, { a: 1, b: null }, false],
  [{ a: null }, { b: null }, false],
])("%j and %j: %p", (a, b, same) => {
  expect(equalJson(a, b)).toBe(same);
  expect(equalJson(b, a)).toBe(same);
});
