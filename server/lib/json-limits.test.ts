import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  endOfText,
  findDangerousKey,
  isShallow,
  isShallowValue,
  jsonCost,
  lossOf,
  mayHoldDangerousKey,
} from "./json-limits.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

test("depth counts open brackets outside strings", () => {
  expect(isShallow(bytes("[".repeat(64) + "]".repeat(64)), 64)).toBe(true);
  expect(isShallow(bytes("[".repeat(65) + "]".repeat(65)), 64)).toBe(false);
  expect(isShallow(bytes('{"a":'.repeat(65)), 64)).toBe(false);
  expect(isShallow(bytes(`["${"[".repeat(100)}"]`), 64)).toBe(true);
  expect(isShallow(bytes(`["\\"${"[".repeat(100)}"]`), 64)).toBe(true);
  expect(isShallow(bytes(`["\\\\",${"[".repeat(64)}`), 64)).toBe(false);
  expect(isShallow(bytes(`[[]${",[]".repeat(1000)}]`), 2)).toBe(true);
});

test("the depth of a value equals the depth of its text", () => {
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

// The check must not cost more than parsing: if nothing was lost, the text is scanned once.
test("the check finds exactly what the parser lost", () => {
  const text = fc.json({ noUnicodeString: false, maxDepth: 5 });
  fc.assert(
    fc.property(text, (json) => {
      expect(lossOf(json, jsonCost(bytes(json), 64)!.members, JSON.parse(json))).toBeNull();
    }),
  );
});

test("a repeated member is found, however its name is escaped", () => {
  const name = fc.string({ unit: "binary", minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(name, fc.jsonValue(), fc.boolean(), (name, value, isEscaped) => {
      const [plain, json] = [JSON.stringify(name), JSON.stringify(value)];
      const units = Array.from({ length: name.length }, (_, i) => name.charCodeAt(i).toString(16).padStart(4, "0"));
      const again = isEscaped ? `"${units.map((unit) => `\\u${unit}`).join("")}"` : plain;
      const text = `[{${plain}:${json},${again} : ${json}}]`;
      const loss = lossOf(text, jsonCost(bytes(text), 64)!.members, JSON.parse(text));
      expect(loss).toBe(`An object in it has the name ${plain} twice.`);
    }),
  );
});

test("a string ends at its first unescaped quote, however long it is", () => {
  const characters = fc.array(fc.constantFrom('"', "\\", "a".repeat(40), "a", "\\\\", '\\"'), { maxLength: 40 });
  fc.assert(
    fc.property(characters, (given) => {
      const json = Buffer.from(given.join(""));
      const [text = ""] = /^(?:[^"\\]|\\.)*/s.exec(json.toString())!;
      // A backslash at the very end escapes nothing.
      expect(Math.min(endOfText(json, 0), json.length)).toBe(json[text.length] === 92 ? json.length : text.length);
    }),
    { numRuns: 1000 },
  );
});

test("names that are whole numbers and the array slots they would reserve are counted, however they are escaped", () => {
  const weightOf = (text: string) => {
    const { numbers, places } = jsonCost(bytes(text), 64)!;
    return [numbers, places];
  };
  for (const name of ["999", "\\u0039\\u0039\\u0039", "9\\u00399"])
    expect(weightOf(`[{"${name}":1}]`)).toEqual([1, 999]);
  expect(weightOf('{"0":0,"1":{"2":["7"]},"a":{"b":"9"}}')).toEqual([2, 2]);
  expect(weightOf('{"1000":1,"4294967294":{"12345678901":1,"01":2,"1a":3,"-1":4,"":5,"1\\n":6}}')).toEqual([2, 0]);
  expect(weightOf(`{${Array.from({ length: 1000 }, (_, i) => `"${999 - i}":1`).join()}}`)).toEqual([1000, 0]);
});
