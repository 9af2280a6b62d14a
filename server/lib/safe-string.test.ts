import { expect, test } from "bun:test";
import { decodeUri, toSafeString } from "./safe-string.ts";

test("every external value becomes a text that is valid in a URL", () => {
  const values = ["a", 7, false, "x\ud800", null, undefined, { toString: 1 }, ["a"], Symbol("a")];
  expect(values.map(toSafeString)).toEqual(["a", "7", "false", "x\ufffd", "", "", "", "", ""]);
  for (const value of values) expect(() => encodeURIComponent(toSafeString(value))).not.toThrow();
});

test("text that was not encoded is not decoded", () => {
  expect([decodeUri("a%20b"), decodeUri("%"), decodeUri("%ff")]).toEqual(["a b", null, null]);
});
