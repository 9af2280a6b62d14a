import { expect, spyOn, test } from "bun:test";
import { AppError } from "../domain/errors.ts";
import { limits } from "../domain/limits.ts";
import { turnsDuring } from "../testing/turns.ts";
import { parseJson } from "./parse-json.ts";
import { parseJsonAsync } from "./parse-json-async.ts";

const depth = 96;
const long = "x".repeat(70_000);
const many = Array.from({ length: 3000 }, (_, index) => ({
  index,
  text: `é "${index}" \\ [}{] ,:`,
  nested: [[index]],
}));

async function outcome(text: string | Uint8Array, parse: typeof parseJsonAsync | typeof parseJson) {
  try {
    return { value: await parse(Buffer.from(text as string), depth) };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { code, message, param } = error;
    return { code, message, param };
  }
}

const json = JSON.stringify;
const deep = (levels: number) => `{"a":${json(many)},"b":${"[".repeat(levels)}${json(long)}${"]".repeat(levels)}}`;

test.each<[string, string]>([
  ["an object", json({ first: 1, many, long, last: null })],
  ["a list", json([many, long, many, 1])],
  ["one with space", json({ many, long }, null, 3)],
  ["one with escaped names", `{"\\u0061":${json(many)},"b\\"c":${json(long)}, "d" : ${json(many)} }`],
  ["an object in lists in objects", json({ a: [{ b: [{ many, long }] }, many] })],
  ["a text", json(`${long}"`)],
  ["a text of escapes", `"${"\\u0041\\ud83d\\ude00".repeat(20_000)}"`],
  ["a text of escaped backslashes", `{"a":"${"\\\\".repeat(90_000)}","b":"x${"\\\\".repeat(90_000)}"}`],
  ["a text of long characters", json(`${"😀é漢".repeat(30_000)}`)],
  ["a text of everything", json(`a"\\\n\u0001😀\ud83d/é`.repeat(20_000))],
  ["a text with an end within", `"${long}"${long}"`],
  ["a text with a line break within", `"${long}\n${long}"`],
  ["a text with an unknown escape", `"${long}\\x${long}"`],
  ["a text whose end is escaped", `["${long}\\"]`],
  ["a text with half an escape", `"${long}\\u00"`],
  ["one after a byte order mark", `\uFEFF${json({ many })}`],
  ["one with a byte order mark within", `{"many":${json(many)},"a":\uFEFF1}`],
  ["one as deep as may be", deep(depth - 2)],
  ["one that is deeper", deep(depth)],
  ["one that breaks off", json({ many, long }).slice(0, -1)],
  ["one that breaks off in a text", json({ many, long }).slice(0, -3)],
  ["one that goes on", `${json({ many })}}`],
  ["two", `${json({ many })}${json({ many })}`],
  ["one with a comma too many", `[${json(long)},${json(many)},]`],
  ["one with two commas", `[${json(long)},,${json(many)}]`],
  ["one that begins with a comma", `[,${json(long)},${json(many)}]`],
  ["one without a value", `{"a":${json(long)},"b":,"c":${json(many)}}`],
  ["one without a name", `{"a":${json(long)},${json(many)}}`],
  ["one without a colon", `{"a"${json(many)}}`],
  ["one that is closed by the wrong bracket", `{"a":${json(many).slice(0, -1)}}}`],
  ["one whose brackets are crossed", `{"a":[${json(many)},{],[}]}`],
  ["one with a name twice, far apart", `{"a":1,"long":${json(long)},"many":${json(many)},"a":2}`],
  ["one with a name twice, in a part", `{"many":${json(many)},"a":{"b":1,"b":2}}`],
  ["one with a number too large", `{"many":${json(many)},"a":[1e999]}`],
  ["one with a forbidden name", `{"many":${json(many)},"constructor":1}`],
  ["one with a forbidden long name", `{"many":${json(many)},"__proto__":${json(many)}}`],
  ["one with a forbidden name in a part", `{"many":${json(many).slice(0, -1)},{"a":{"__proto__":1}}]}`],
  ["two long lists without a comma", `[${json(many)} ${json(many)}]`],
  ["a long list and a number without a comma", `[${json(many)} 1]`],
  ["a long text and a name without a comma", `{"a":${json(long)} "b":1}`],
  ["a long text behind a list", `[[1]${json(long)}]`],
  ["a long member without a comma before it", `{"a":${json(many)}"b":${json(many)}}`],
  ["a long name", `{"a":1,${json(long)}:${json(many)}}`],
  ["a long text for a name in a list", `[${json(long)}:1]`],
  ["an object closed by a bracket", `{"a":${json(many)}]`],
  ["a bracket too many", `${json(many)}]`],
  ["only an open bracket", `[${" ".repeat(70_000)}`],
  ["a number", `${" ".repeat(70_000)}12`],
  ["a short list in much space", `${" ".repeat(70_000)}[1,{"a":2}] `],
  ["a name twice, of long values", `{"a":${json(many)},"a":${json(many)}}`],
  ["nothing but space", " ".repeat(100_000)],
  ["empty lists", `{"a":[ ],"b":{ },"many":${json(many)},"c":[${" ".repeat(70_000)}],"d":{${" ".repeat(70_000)}}}`],
])("%s is read in slices as it is at once, or refused with the same words", async (_, text) => {
  const expected = await outcome(text, parseJson);
  expect(await outcome(text, parseJsonAsync)).toEqual(expected);
  expect("value" in expected || "code" in expected).toBe(true);
});

test("deeply nested JSON is parsed in slices too, each byte once", async () => {
  const value = json(Array.from({ length: 7 }, () => many));
  const text = `${"[".repeat(90)}${value}${"]".repeat(90)}`;
  using parse = spyOn(JSON, "parse");
  await parseJsonAsync(Buffer.from(text), depth);
  const lengths = parse.mock.calls.map(([part]) => part.length);
  expect(Math.max(...lengths)).toBeLessThan(100_000);
  expect(lengths.reduce((sum, length) => sum + length, 0)).toBeLessThan(text.length * 1.1);
  expect(await outcome(text, parseJsonAsync)).toEqual(await outcome(text, parseJson));
});

// Each level holds almost one piece; all together are long.
test("many open levels do not add up to one long piece", async () => {
  const items = "1,".repeat(30_000);
  const text = `${`[${items}`.repeat(60)}1${"]".repeat(60)}`;
  using parse = spyOn(JSON, "parse");
  const value = await parseJsonAsync(Buffer.from(text), depth);
  expect(Math.max(...parse.mock.calls.map(([part]) => part.length))).toBeLessThan(150_000);
  parse.mockRestore();
  expect(value).toEqual(JSON.parse(text));
});

test.each([
  ["a number", `[1,${"1".repeat(300_000)}]`],
  ["a number alone", "1".repeat(300_000)],
  ["white space", `[1,${" ".repeat(300_000)}2]`],
  ["a name", `{"a":1,"${"x".repeat(300_000)}":2}`],
])("%s of hundreds of kilobytes, which cannot be parted, is refused", async (_, text) => {
  expect(await outcome(text, parseJsonAsync)).toMatchObject({
    code: "invalid_json",
    message: expect.stringContaining("more than 262144 bytes"),
  });
});

test("invalid UTF-8 is refused at every position", async () => {
  const bytes = Buffer.from(json({ many, long, last: "é" }));
  bytes[bytes.lastIndexOf(0xc3)] = 0xff;
  expect(await outcome(bytes, parseJsonAsync)).toMatchObject({ code: "invalid_json" });
});

test("other work runs while a long body is parsed", async () => {
  const body = Buffer.from(json(Array.from({ length: 20 }, () => many)));
  const { turns, result } = await turnsDuring(() => parseJsonAsync(body, depth));
  expect(result).toEqual(JSON.parse(body.toString()));
  expect(turns).toBeGreaterThan(20);
});

test("a string can be split at any position without changing it", async () => {
  for (let before = 0; before < 12; before++)
    for (const part of ["\\\\", "\\u0041", '\\"', "😀", "é", "漢", "\\\\\\u00e9"]) {
      const text = `"${"x".repeat(before)}${part.repeat(30_000)}"`;
      expect(await outcome(text, parseJsonAsync)).toEqual(await outcome(text, parseJson));
    }
});

// A string of 18 MB took 200 ms of the main thread.
test("a long string is parsed piece by piece", async () => {
  using parse = spyOn(JSON, "parse");
  const { a } = (await parseJsonAsync(Buffer.from(`{"a":"${"\\u0041".repeat(200_000)}"}`), depth)) as {
    a: string;
  };
  expect(a).toBe("A".repeat(200_000));
  expect(Math.max(...parse.mock.calls.map(([text]) => text.length))).toBeLessThan(100_000);
});

const numbered = (count: number) => `{${Array.from({ length: count }, (_, index) => `"${index}":1`).join()}}`;

// The engine takes 35 ms to list 90,000 such names, each time that a schema asks for them.
test("an object may have 20,000 names that are whole numbers, at once and in slices", async () => {
  const { json_numbers: most } = limits;
  for (const text of [numbered(most), `{"a":${numbered(most)},"b":${json(many)}}`])
    expect(await outcome(text, parseJsonAsync)).toEqual({ value: JSON.parse(text) });
  const message = "An object in it has more than 20000 names that are whole numbers.";
  for (const parse of [parseJson, parseJsonAsync])
    expect(await outcome(`[${numbered(most + 1)}]`, parse)).toMatchObject({ code: "invalid_json", message });
});

// A megabyte of them took 800 MB: each object reserves room for a thousand items.
test("objects that would take many times their size in memory are refused before parsing", async () => {
  using parse = spyOn(JSON, "parse");
  for (const name of ["999", "9\\u00399"]) {
    const text = `[${Array(50_000).fill(`{"${name}":1}`).join()}]`;
    expect(await outcome(text, parseJsonAsync)).toMatchObject({ code: "invalid_json" });
    expect(await outcome(text, parseJson)).toMatchObject({ code: "invalid_json" });
  }
  expect(parse.mock.calls.map(([text]) => text.length).reduce((sum, length) => sum + length, 0)).toBeLessThan(200_000);
  parse.mockRestore();
  const statuses = Array.from({ length: 1500 }, () => ({ 200: 1, 404: "x".repeat(30) }));
  expect(await parseJsonAsync(Buffer.from(json(statuses)))).toEqual(statuses);
});
