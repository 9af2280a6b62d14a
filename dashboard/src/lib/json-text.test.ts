import { expect, test } from "bun:test";
import { isJsonObject, jsonText, readJson } from "./json-text.ts";

test("JSON is read, and what is none says so without throwing", () => {
  expect(readJson('{"a": 1}')).toEqual({ value: { a: 1 }, fault: null });
  expect(readJson("null")).toEqual({ value: null, fault: null });
  expect(readJson('{"a": ').fault).toStartWith("Invalid JSON: ");
  expect(readJson("  ").fault).toContain("Enter a JSON value.");
});

test("a value that is edited and not changed stays what it was", () => {
  for (const value of [{ a: [1, "b", null] }, "text", 0, [], null])
    expect(readJson(jsonText(value)).value).toEqual(value);
  expect(jsonText(undefined)).toBe("null");
});

test("only an object is one", () => {
  expect([{}, [], null, "a"].map(isJsonObject)).toEqual([true, false, false, false]);
});
