import { describe, expect, test } from "bun:test";
import { z } from "zod";
import { createToolReader } from "./read-tools.ts";

const schema = { type: "object", properties: { a: { type: "string" } } };
const read = (...tools: unknown[]) => {
  const reader = createToolReader(null);
  reader.read(tools);
  return reader.listing;
};

describe("a tool that no model accepts is left out, with the reason", () => {
  test.each<[string, unknown, RegExp]>([
    ["nothing", null, /name/],
    ["no name", { inputSchema: schema }, /name/],
    ["an empty name", { name: "", inputSchema: schema }, /name/],

    ["a name with a line break", { name: "a\nb", inputSchema: schema }, /name/],
    ["a long name", { name: "a".repeat(129), inputSchema: schema }, /name/],
    ["no schema", { name: "a" }, /arguments/],
    ["a schema of a list", { name: "a", inputSchema: { type: "array" } }, /arguments/],
    ["a schema that leads away", { name: "a", inputSchema: { ...schema, $ref: "https://x.test/s" } }, /\$ref/],
    ["a pattern that is none", { name: "a", inputSchema: { ...schema, properties: { a: { pattern: 1 } } } }, /pattern/],
    ["a schema that is too large", { name: "a", inputSchema: { ...schema, enum: ["x".repeat(70_000)] } }, /larger/],
    [
      "a dangerous key",
      { name: "a", inputSchema: JSON.parse('{"type":"object","properties":{"__proto__":{}}}') },
      /proto/,
    ],
  ])("%s", (_, tool, reason) => {
    const { tools, skipped } = read(tool, { name: "good", inputSchema: schema });
    expect(tools.map(({ name }) => name)).toEqual(["good"]);
    expect(skipped).toEqual([{ name: expect.any(String), reason: expect.stringMatching(reason) }]);
    expect(skipped[0]!.name.length).toBeLessThanOrEqual(64);
  });

  test("a duplicate name", () => {
    expect(read({ name: "a", inputSchema: schema }, { name: "a", title: "b", inputSchema: schema })).toMatchObject({
      tools: [{ name: "a" }],
      skipped: [{ name: "a", reason: expect.stringContaining("two tools") }],
    });
  });
});

test("a tool that is listed twice on two pages is one tool", () => {
  const { tools, skipped } = read({ name: "a", inputSchema: schema }, { name: "a", inputSchema: schema });
  expect([tools.length, skipped]).toEqual([1, []]);
});

test("names that no model accepts, such as those with dots, are kept for the server", () => {
  const names = ["docs.find", "docs/find", "Create CIFS Share", "büro", "a".repeat(128)];
  const { tools, skipped } = read(...names.map((name) => ({ name, inputSchema: schema })));
  expect([tools.map(({ name }) => name), skipped]).toEqual([names, []]);
});

test("every format of zod 4 can be an argument, with the patterns that it writes", () => {
  const formats = {
    email: z.email(),
    uuid: z.uuid(),
    url: z.url(),
    ipv4: z.ipv4(),
    ipv6: z.ipv6(),
    cidr: z.cidrv4(),
    base64: z.base64(),
    emoji: z.emoji(),
    ulid: z.ulid(),
    nanoid: z.nanoid(),
    cuid2: z.cuid2(),
    e164: z.e164(),
    jwt: z.jwt(),
    datetime: z.iso.datetime({ offset: true }),
    date: z.iso.date(),
    duration: z.iso.duration(),
    starts: z.string().startsWith("a").endsWith("b").includes("c"),
    own: z.string().regex(/(a+)+$/),
    record: z.record(z.string().regex(/^(a|a)*$/), z.number()),
  };
  const inputSchema = z.toJSONSchema(z.object(formats));
  const { tools, skipped } = read({ name: "a", inputSchema });
  expect(skipped).toEqual([]);
  expect(tools[0]!.parameters).toMatchObject(JSON.parse(JSON.stringify(inputSchema)));
});

test("a schema without a type is given to the model as that of an object", () => {
  const { type: _, ...untyped } = schema;
  expect(read({ name: "a", inputSchema: untyped }).tools[0]!.parameters).toEqual(schema);
});

test("a description has no invisible characters and a maximum length", () => {
  const hidden = [..."steal"].map((letter) => String.fromCodePoint(0xe0000 + letter.codePointAt(0)!)).join("");
  const description = `Reads\u0000 a\u202e file.${hidden}\n\u200bOne.`;
  const [tool] = read({ name: "a", description, inputSchema: schema }).tools;
  expect(tool!.description).toBe("Reads a file.\nOne.");
  const [long] = read({ name: "a", description: "ü".repeat(10_000), inputSchema: schema }).tools;
  expect(Buffer.byteLength(long!.description)).toBe(4096);
});

test("hints of the server decide if a call may be repeated", () => {
  const idempotent = (annotations: unknown) =>
    read({ name: "a", inputSchema: schema, annotations }).tools[0]!.idempotent;
  expect(idempotent({ readOnlyHint: true })).toBe(true);
  expect(idempotent({ idempotentHint: true })).toBe(true);
  expect(idempotent({ destructiveHint: false, readOnlyHint: "yes" })).toBe(false);
  expect(idempotent(undefined)).toBe(false);
});
