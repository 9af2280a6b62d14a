import { expect, test } from "bun:test";
import { unitVector } from "./unit-vector.ts";

test("a vector keeps its direction and gets length 1", () => {
  expect(unitVector([3, 0, -4])).toEqual(Float32Array.of(0.6, 0, -0.8));
});

test.each([[[]], [[0, 0]], [[1, Number.NaN]], [[Number.POSITIVE_INFINITY, 1]], [[1e308, 1e308]]])(
  "%p has no reliable direction",
  (values) => {
    expect(unitVector(values)).toBeNull();
  },
);
