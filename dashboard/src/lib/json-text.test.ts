import { expect, test } from "bun:test";
import { isJsonObject, jsonText, readJson } from "./json-text.ts";

test("JSON nested too deep is rejected, and brackets in strings do not count", () => {
  for (const depth of [501, 100_000])
    expect(readJson("[".repeat(depth) + "]".repeat(depth)).fault).toMatch(/deeper than 500/);
  expect(readJson("[".repeat(499) + "]".repeat(499)).fault).toBeNull();
  const text = JSON.stringify({ a: `\\"${"[{".repeat(10_000)}`, b: "]" });
  expect(readJson(text)).toEqual({ value: JSON.parse(text), fault: null });
});

test("valid JSON is parsed, and invalid JSON returns an error without throwing", () => {
  expect(readJson('{"a": 1}')).toEqual({ value: { a: 1 }, fault: null });
  expect(readJson("null")).toEqual({ value: null, fault: null });
  expect(readJson('{"a": ').fault).toStartWith("Invalid JSON: ");
  expect(readJson("  ").fault).toContain("Enter a JSON value.");
});

test("a value that is edited back is unchanged", () => {
  for (const value of [{ a: [1, "b", null] }, "text", 0, [], null])
    expect(readJson(jsonText(value)).value).toEqual(value);
  expect(jsonText(undefined)).toBe("null");
});

test("isJsonObject accepts only objects", () => {
  expect([{}, [], null, "a"].map(isJsonObject)).toEqual([true, false, false, false]);
});
