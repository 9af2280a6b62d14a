import { expect, test } from "bun:test";
import { canonicalJson } from "./canonical-json.ts";

test("canonical JSON ignores the order of keys at any depth, but not that of lists", () => {
  const [a, b] = [
    { b: [{ y: 1, x: null }], a: "1" },
    { a: "1", b: [{ x: null, y: 1 }] },
  ];
  expect(canonicalJson(a)).toBe(canonicalJson(b));
  expect(canonicalJson(a)).toBe('{"a":"1","b":[{"x":null,"y":1}]}');
  expect(canonicalJson([1, 2])).not.toBe(canonicalJson([2, 1]));
});

test("an absent value is null, and a key named like a prototype stays a key", () => {
  expect(canonicalJson(undefined)).toBe("null");
  expect(canonicalJson({ a: undefined, b: 1 })).toBe('{"b":1}');
  expect(canonicalJson(JSON.parse('{"b":1,"__proto__":{"a":2}}'))).toBe('{"__proto__":{"a":2},"b":1}');
});
