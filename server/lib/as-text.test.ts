import { expect, test } from "bun:test";
import { asText, decoded } from "./as-text.ts";

test("whatever came from outside has a text that an address can have", () => {
  const values = ["a", 7, false, "x\ud800", null, undefined, { toString: 1 }, ["a"], Symbol("a")];
  expect(values.map(asText)).toEqual(["a", "7", "false", "x\ufffd", "", "", "", "", ""]);
  for (const value of values) expect(() => encodeURIComponent(asText(value))).not.toThrow();
});

test("what was never encoded is not decoded", () => {
  expect([decoded("a%20b"), decoded("%"), decoded("%ff")]).toEqual(["a b", null, null]);
});
