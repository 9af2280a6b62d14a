import { expect, test } from "bun:test";
import { checkSchema, dotted, validateAgainst } from "./json-schema.ts";
import { isSafePattern } from "./safe-pattern.ts";

test.each<[string, Record<string, unknown>]>([
  ["nothing at all", {}],
  ["an object", { type: "object", properties: { city: { type: "string", minLength: 1 } }, required: ["city"] }],
  ["property names that are keywords", { type: "object", properties: { type: { type: "string" }, required: true } }],
  ["a tree", { $ref: "#/$defs/node", $defs: { node: { properties: { child: { $ref: "#/$defs/node" } } } } }],
  [
    "data that looks like a schema",
    { enum: [{ type: "foo" }], const: { pattern: "(" }, default: { $ref: "http://x" } },
  ],
  ["alternatives", { anyOf: [{ type: ["string", "null"] }, { prefixItems: [{ type: "integer" }], items: false }] }],
])("a schema with %s can be used", (_, schema) => {
  expect(checkSchema(schema)).toEqual([]);
});

let deep: Record<string, unknown> = {};
for (let i = 0; i < 40; i++) deep = { not: deep };

test.each<[string, unknown]>([
  ["no object", "string"],
  ["a list", []],
  ["an unknown type", { type: "foo" }],
  ["a property that is no schema", { properties: { a: "string" } }],
  ["required as a flag", { properties: { a: { type: "string", required: true } } }],
  ["a remote reference", { $ref: "https://example.com/schema.json" }],
  ["a reference to nothing", { $ref: "#/$defs/none" }],
  ["a reference to itself", { $ref: "#" }],
  [
    "references in a circle",
    { $ref: "#/$defs/a", $defs: { a: { allOf: [{ $ref: "#/$defs/b" }] }, b: { $ref: "#/$defs/a" } } },
  ],
  ["a broken pattern", { pattern: "(" }],
  ["an exponential pattern", { pattern: "^(a+)+$" }],
  ["a long pattern", { pattern: "a".repeat(300) }],
  ["an exponential property name", { patternProperties: { "(a*)*": {} } }],
  ["too great a depth", deep],
  ["too many parts", { anyOf: Array.from({ length: 1001 }, () => ({})) }],
  ["too many bytes", { description: "x".repeat(70_000) }],
])("a schema with %s is refused", (_, schema) => {
  expect(checkSchema(schema).length).toBeGreaterThan(0);
});

test.each([
  ["^[a-z]+$"],
  ["^\\d{4}-\\d{2}$"],
  ["(foo|bar)*"],
  ["\\(a+\\)+"],
  ["[(*]+"],
  ["(ab?c)+"],
  ["(a+)?"],
  ["(a+){1}"],
])("the pattern %s is safe", (pattern) => {
  expect(isSafePattern(pattern)).toBe(true);
});

test.each([["(a+)+"], ["((a*)b)*"], ["(a{2,}){3}"], ["(.*)\\1"], ["(?=a)"], ["(?<!a)b"], ["("], ["((a|b+)c){2,}"]])(
  "the pattern %s is not",
  (pattern) => {
    expect(isSafePattern(pattern)).toBe(false);
  },
);

test("every fault of a value is named with its path", () => {
  const schema = {
    type: "object",
    required: ["name"],
    properties: { list: { type: "array", items: { type: "integer" } } },
    additionalProperties: false,
  };
  expect(validateAgainst(schema, { name: 1, list: [] })).toEqual([{ path: "", message: 'must not have "name"' }]);
  expect(validateAgainst(schema, { list: [1, "2"] }).map(({ path }) => path)).toEqual(["", "list[1]"]);
  expect(validateAgainst({ ...schema, required: [] }, { list: [1] })).toEqual([]);
  expect(validateAgainst({ not: {} }, 1)).toHaveLength(1);
});

test("a pointer becomes a parameter's name", () => {
  expect(dotted("/a~1b/0/c~0")).toBe("a/b[0].c~");
  expect(dotted("")).toBe("");
});
