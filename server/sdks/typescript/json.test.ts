import { expect, test } from "bun:test";
import { parseJson, writeJson } from "./json.ts";

test("an integer beyond the safe range is a bigint, and is sent with all its digits", () => {
  const text =
    '{"id":2512292042121000001,"of":[-9007199254740993,9007199254740991,0.5,1e21,"a \\" 12345678901234567890"]}';
  const value = parseJson(text) as { id: bigint; of: unknown[] };
  expect(value.id + 1n).toBe(2512292042121000002n);
  expect(value.of).toEqual([-9007199254740993n, 9007199254740991, 0.5, 1e21, 'a " 12345678901234567890']);
  expect(writeJson(value)).toBe(text.replace("1e21", "1e+21"));
});

test.each(['{"a":1}', '"12345678901234567890"', '["12345678901234567890", 1.12345678901234567]', "null", "[]"])(
  "%s is read and written as usual",
  (text) => {
    expect(parseJson(text)).toEqual(JSON.parse(text));
    expect(writeJson(JSON.parse(text))).toBe(JSON.stringify(JSON.parse(text)));
  },
);

test("invalid JSON and unserializable values fail as usual", () => {
  expect(() => parseJson('{"a":12345678901234567890')).toThrow(SyntaxError);
  const circle: Record<string, unknown> = { n: 1n };
  circle.self = circle;
  expect(() => writeJson(circle)).toThrow(TypeError);
});
