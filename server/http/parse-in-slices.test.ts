import { expect, spyOn, test } from "bun:test";
import { AppError } from "../core/errors.ts";
import { parseJsonBody } from "./json-body.ts";
import { parseJsonBodyInSlices } from "./parse-in-slices.ts";

const headers = new Headers({ "content-type": "application/json" });
const depth = 96;
const long = "x".repeat(70_000);
const many = Array.from({ length: 3000 }, (_, index) => ({
  index,
  text: `é "${index}" \\ [}{] ,:`,
  nested: [[index]],
}));

async function outcome(text: string | Uint8Array, parse: typeof parseJsonBodyInSlices | typeof parseJsonBody) {
  try {
    return { value: await parse(Buffer.from(text as string), headers, depth) };
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
  ["nothing but space", " ".repeat(100_000)],
  ["empty lists", `{"a":[ ],"b":{ },"many":${json(many)},"c":[${" ".repeat(70_000)}],"d":{${" ".repeat(70_000)}}}`],
])("%s is read in slices as it is at once, or refused with the same words", async (_, text) => {
  const expected = await outcome(text, parseJsonBody);
  expect(await outcome(text, parseJsonBodyInSlices)).toEqual(expected);
  expect("value" in expected || "code" in expected).toBe(true);
});

test.each([11, 12, 13, 60])(
  "a value that is too long for one slice is refused within many lists, and read within few: %d",
  async (levels) => {
    const value = json(Array.from({ length: 7 }, () => many));
    expect(value.length).toBeGreaterThan(1024 * 1024);
    const read = await outcome(`${"[".repeat(levels)}${value}${"]".repeat(levels)}`, parseJsonBodyInSlices);
    if (levels < 12) expect(read).toEqual({ value: JSON.parse(`${"[".repeat(levels)}${value}${"]".repeat(levels)}`) });
    else
      expect(read).toMatchObject({
        code: "invalid_json",
        message: expect.stringContaining("within 12 objects and lists"),
      });
  },
);

test("bytes that are no UTF-8 are refused wherever they stand", async () => {
  const bytes = Buffer.from(json({ many, long, last: "é" }));
  bytes[bytes.lastIndexOf(0xc3)] = 0xff;
  expect(await outcome(bytes, parseJsonBodyInSlices)).toMatchObject({ code: "invalid_json" });
});

test("a body that is announced as something else is refused whatever it holds", async () => {
  const text = Buffer.from(json({ many }));
  await expect(parseJsonBodyInSlices(text, new Headers(), depth)).rejects.toMatchObject({
    code: "unsupported_media_type",
  });
});

test("others have their turn while a long body is read", async () => {
  const body = Buffer.from(json(Array.from({ length: 20 }, () => many)));
  let [turns, isOver] = [0, false];
  const reading = parseJsonBodyInSlices(body, headers, depth).finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await new Promise((resolve) => setImmediate(resolve));
    turns++;
  }
  expect(await reading).toEqual(JSON.parse(body.toString()));
  expect(turns).toBeGreaterThan(1);
});

test("a text is parted at any place, and is the same", async () => {
  for (let before = 0; before < 12; before++)
    for (const part of ["\\\\", "\\u0041", '\\"', "😀", "é", "漢", "\\\\\\u00e9"]) {
      const text = `"${"x".repeat(before)}${part.repeat(30_000)}"`;
      expect(await outcome(text, parseJsonBodyInSlices)).toEqual(await outcome(text, parseJsonBody));
    }
});

// One of 18 MB took 200 ms of the main thread.
test("a long text is parsed piece by piece", async () => {
  using parse = spyOn(JSON, "parse");
  const { a } = (await parseJsonBodyInSlices(Buffer.from(`{"a":"${"\\u0041".repeat(200_000)}"}`), headers, depth)) as {
    a: string;
  };
  expect(a).toBe("A".repeat(200_000));
  expect(Math.max(...parse.mock.calls.map(([text]) => text.length))).toBeLessThan(100_000);
});
