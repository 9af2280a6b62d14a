import { expect, test } from "bun:test";
import { findDangerousKey, isShallow, isShallowValue, mayHoldDangerousKey } from "./json-limits.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

test("depth counts open brackets, and those within strings are text", () => {
  expect(isShallow(bytes("[".repeat(64) + "]".repeat(64)), 64)).toBe(true);
  expect(isShallow(bytes("[".repeat(65) + "]".repeat(65)), 64)).toBe(false);
  expect(isShallow(bytes('{"a":'.repeat(65)), 64)).toBe(false);
  expect(isShallow(bytes(`["${"[".repeat(100)}"]`), 64)).toBe(true);
  expect(isShallow(bytes(`["\\"${"[".repeat(100)}"]`), 64)).toBe(true);
  expect(isShallow(bytes(`["\\\\",${"[".repeat(64)}`), 64)).toBe(false);
  expect(isShallow(bytes(`[[]${",[]".repeat(1000)}]`), 2)).toBe(true);
});

test("the depth of a value is the depth of its text", () => {
  for (const text of ["1", "[]", "[[1]]", '{"a":{"b":[]}}'])
    for (const depth of [0, 1, 2, 3])
      expect(isShallowValue(JSON.parse(text), depth)).toBe(isShallow(bytes(text), depth));
});

test.each([
  ['{"__proto__":1}', "__proto__"],
  ['{"a":[{},{"constructor":{}}]}', "a[1].constructor"],
  ['{"a":{"proto\\u0074ype":1}}', "a.prototype"],
  ['{"a":"__proto__","b":["constructor"]}', null],
])("in %s the dangerous key is %s", (text, path) => {
  expect(mayHoldDangerousKey(text)).toBe(true);
  expect(findDangerousKey(JSON.parse(text))).toBe(path);
});
