import { expect, test } from "bun:test";
import fc from "fast-check";
import { equalJson } from "../domain/equal.ts";
import { isExactNumber, mayChange, parseExact } from "./exact-numbers.ts";
import { findInfiniteNumber } from "./json-limits.ts";
import { hideInJson } from "./redact.ts";
import { fillTemplate } from "./url-template.ts";

test.each([
  "2512292042121000001",
  "-9007199254740993",
  "18446744073709551615",
  "1152921504606846976",
  "100000000000000000000000",
  "1e400",
  "-1E+999",
  "1e-400",
  "0.1234567890123456789",
  "4.6666666666666667",
])("%s is kept as it is written", (source) => {
  for (const json of [source, `[${source}]`, `{"a":${source}}`, `{"a":{"b":[1,"x",${source}]}}`]) {
    expect(mayChange(json)).toBe(true);
    expect(JSON.stringify(parseExact(json))).toBe(json);
  }
});

test.each([
  ["9007199254740991", 9007199254740991],
  ["0.1", 0.1],
  ["0.30000000000000004", 0.30000000000000004],
  ["1.5000000000000000000", 1.5],
  ["0.000000000000000000000001", 1e-24],
  ["1e5", 100000],
  ["1.7976931348623157e+308", Number.MAX_VALUE],
  ["12345678.0", 12345678],
  ["-0", -0],
  ["-0.0e7", -0],
  ["0e999999", 0],
])("%s is a number", (source, value) => {
  expect(parseExact(source)).toBe(value);
  expect(mayChange(`[${source}]`)).toBe(false);
});

test.each([
  '"2512292042121000001"',
  '{"a: 2512292042121000001,":"[1e400]"}',
  '"\\" , 2512292042121000001"',
  '["\\\\",": 1e400]"]',
])("digits in the text %s are no number", (json) => {
  expect(mayChange(json)).toBe(false);
  expect(parseExact(json)).toEqual(JSON.parse(json));
});

test.each([
  "[2512292042121000001",
  "2512292042121000001-1",
  "[1234567890123456.]",
  "[-.1234567890123456789]",
  "1e400e",
])("%s is no JSON, as before", (text) => {
  expect(() => parseExact(text)).toThrow(SyntaxError);
});

test("text written by the engine parses as with its own parser, and everything else stays the same", () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), fc.bigInt(), (value, integer) => {
      expect(parseExact(JSON.stringify(value))).toEqual(JSON.parse(JSON.stringify(value)));
      expect(JSON.stringify(parseExact(`{"it":${integer}}`))).toBe(`{"it":${integer}}`);
    }),
  );
});

test("exact numbers are equal if their texts are, and never equal an object", () => {
  const [one, same, other] = ["12345678901234567890", "12345678901234567890", "12345678901234567891"].map(parseExact);
  expect([isExactNumber(one), equalJson([one], [same]), equalJson([one], [other])]).toEqual([true, true, false]);
  expect(equalJson(one, { rawJSON: "12345678901234567890" })).toBe(false);
});

test("the place of an unrepresentable number is reported", () => {
  expect(findInfiniteNumber(parseExact('{"a":[1,{"b":1e400}]}'))).toBe("a[1].b");
  expect(findInfiniteNumber(parseExact('[12345678901234567890,"1e400"]'))).toBeNull();
});

test("the digits of a secret are masked in a long number too", async () => {
  const secret = "12345678901234567";
  const value = parseExact(`{"id":${secret}89,"other":98765432109876543210}`);
  expect(JSON.stringify(await hideInJson(value, [secret]))).toBe('{"id":"[hidden]","other":98765432109876543210}');
});

test("a URL gets all digits of an argument", () => {
  const args = parseExact<Record<string, unknown>>('{"id":2512292042121000001}');
  expect(fillTemplate("https://a.test/orders/{id}", args)).toEqual({
    url: "https://a.test/orders/2512292042121000001",
    rest: {},
  });
});
