import { expect, test } from "bun:test";
import { checkSchema, dotted, validateAgainst } from "./json-schema.ts";

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

const doubling = (link: (next: object) => object) => ({
  $ref: "#/$defs/a0",
  $defs: Object.fromEntries(
    Array.from({ length: 30 }, (_, i) => [`a${i}`, i < 29 ? link({ $ref: `#/$defs/a${i + 1}` }) : { type: "string" }]),
  ),
});

test.each<[string, unknown]>([
  ["references that double in place", doubling((next) => ({ allOf: [next, next] }))],
  ["references that double in alternatives", doubling((next) => ({ anyOf: [next, { not: next }] }))],
  ["references that double in conditions", doubling((next) => ({ if: next, else: next }))],
  ["references that double by property", doubling((next) => ({ properties: { a: next, b: next } }))],
  ["references that double by item", doubling((next) => ({ items: next, contains: next }))],
  [
    "a circle behind another one over data",
    {
      $ref: "#/$defs/x",
      $defs: {
        x: { allOf: [{ properties: { y: { $ref: "#/$defs/z" } } }, { $ref: "#/$defs/z" }] },
        z: { not: { $ref: "#/$defs/x" } },
      },
    },
  ],
  ["a reference to data", { $ref: "#/const", const: { pattern: "(a+)+$" } }],
  ["a reference that a URL changes", { $ref: "#/$defs/%61", $defs: { "%61": {}, a: {} } }],
  ["a second base for references", { properties: { a: { $id: "https://example.com/a" } } }],
  ["a name that passes for a reference", { $id: "#/$defs/a", $ref: "#/$defs/a", $defs: { a: {} } }],
  ["an anchor that passes for a reference", { $anchor: "/$defs/a", $ref: "#/$defs/a", $defs: { a: {} } }],
  ["a dynamic reference", { $dynamicRef: "#", properties: {} }],
  ["a keyword of an earlier draft", { dependencies: { a: { pattern: "(a+)+$" } } }],
  ["a polynomial pattern", { pattern: "a*a*a*b" }],
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

test("all faults of a value are reported with their paths", () => {
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

const branching = {
  $ref: "#/$defs/node",
  $defs: {
    node: { properties: { child: { anyOf: [{ $ref: "#/$defs/node" }, { $ref: "#/$defs/node" }] } }, required: ["no"] },
  },
};
let chain: object = {};
for (let i = 0; i < 60; i++) chain = { child: chain };
const zeros = Array.from({ length: 10_000 }, () => 0);

test.each<[string, Record<string, unknown>, unknown]>([
  ["recursion that branches", branching, chain],
  ["many items among many values", { items: { enum: Array.from({ length: 5000 }, (_, i) => i + 1) } }, zeros],
  ["many items among many alternatives", { items: { anyOf: Array.from({ length: 500 }, () => ({})) } }, zeros],
  ["many texts with a square pattern", { items: { pattern: "a+b" } }, zeros.slice(0, 100).map(() => "a".repeat(9999))],
  ["a long text with a pattern", { pattern: "^a" }, "a".repeat(10_001)],
  ["a long name with a pattern", { patternProperties: { "^a": {} } }, { ["a".repeat(10_001)]: 1 }],
  ["a long text with a format", { format: "email" }, "a".repeat(10_001)],
])("%s are refused unchecked and at once", (_, schema, value) => {
  expect(checkSchema(schema)).toEqual([]);
  const program = `import { validateAgainst } from ${JSON.stringify(`${import.meta.dir}/json-schema.ts`)};
    console.log(JSON.stringify(validateAgainst(...(await Bun.stdin.json()))));`;
  // A hang takes hours, and only killing the process ends it.
  const { stdout, exitedDueToTimeout } = Bun.spawnSync([process.execPath, "-e", program], {
    stdin: Buffer.from(JSON.stringify([schema, value])),
    timeout: 20_000,
    killSignal: "SIGKILL",
  });
  expect({ hangs: exitedDueToTimeout ?? false, stdout: stdout.toString() }).toEqual({
    hangs: false,
    stdout: expect.stringContaining('"unchecked":true'),
  });
});

test("data of an ordinary size is validated, also through recursion", () => {
  const tree = {
    $ref: "#/$defs/node",
    $defs: { node: { required: ["name"], properties: { children: { items: { $ref: "#/$defs/node" } } } } },
  };
  const children = Array.from({ length: 1000 }, (_, i) => ({ name: `n${i}`, children: [{ name: "leaf" }] }));
  expect(validateAgainst(tree, { name: "root", children })).toEqual([]);
  children[500]?.children.push({} as { name: string });
  expect(validateAgainst(tree, { name: "root", children })).toMatchObject([{ path: "children[500].children[1]" }]);
  expect(validateAgainst({ items: { type: "integer" } }, zeros)).toEqual([]);
  expect(validateAgainst({ maxLength: 300_000 }, "a".repeat(250_000))).toEqual([]);
});

test("a pointer is converted to a parameter name", () => {
  expect(dotted("/a~1b/0/c~0")).toBe("a/b[0].c~");
  expect(dotted("")).toBe("");
});

const unsafe = "^(a+)+$";
const unchecked = (schema: Record<string, unknown>, value: unknown) => {
  expect(checkSchema(schema)).not.toEqual([]);
  expect(checkSchema(schema, { patterns: "unchecked" })).toEqual([]);
  return validateAgainst(schema, value);
};

test.each<[string, Record<string, unknown>, unknown]>([
  ["a text", { properties: { a: { pattern: unsafe } } }, { a: "b" }],
  ["a text of another dialect", { pattern: "(?P<year>[0-9]{4})" }, "b"],
  ["a name", { patternProperties: { [unsafe]: { type: "number" } }, additionalProperties: false }, { a: "b" }],
  [
    "a name, with a rule for the others",
    { patternProperties: { [unsafe]: {} }, unevaluatedProperties: false },
    { a: 1 },
  ],
  ["a negation", { not: { pattern: unsafe } }, "b"],
  ["a negated reference", { not: { $ref: "#/$defs/a" }, $defs: { a: { pattern: unsafe } } }, "b"],
  ["a condition", { if: { not: { pattern: unsafe } }, else: false }, "b"],
  ["exclusive alternatives", { oneOf: [{ pattern: unsafe }, { type: "string" }] }, "b"],
  ["a number of items", { contains: { pattern: unsafe }, maxContains: 1 }, ["b", "b"]],
])("a pattern that cannot be run safely is left unchecked in %s, and refuses nothing", (_, schema, value) => {
  expect(unchecked(schema, value)).toEqual([]);
});

test("all other keywords beside such a pattern are checked", () => {
  const schema = {
    properties: { a: { type: "string", pattern: unsafe, maxLength: 2 }, b: { pattern: "^x$" } },
    required: ["a"],
    oneOf: [{ properties: { c: { pattern: unsafe, type: "number" } } }],
  };
  expect(unchecked(schema, { b: "y", c: "" }).map(({ path }) => path)).toEqual(expect.arrayContaining(["", "b", "c"]));
  expect(unchecked(schema, { a: "aaa" }).map(({ path }) => path)).toEqual(["a"]);
  expect(unchecked(schema, { a: "bb", b: "x" })).toEqual([]);
});
