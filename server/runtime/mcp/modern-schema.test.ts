import { expect, test } from "bun:test";
import { checkSchema } from "../../lib/json-schema.ts";
import { modernSchema } from "./modern-schema.ts";
import { createToolReader } from "./read-tools.ts";

const number = { type: "number" };

test.each<[string, object, object]>([
  ["tuples", { items: [number, number] }, { prefixItems: [number, number] }],
  ["tuples without more", { items: [number], additionalItems: false }, { prefixItems: [number], items: false }],
  ["an empty tuple", { items: [] }, {}],
  ["additional items that mean nothing", { items: number, additionalItems: false }, { items: number }],
  ["limits of draft 4", { minimum: 0, exclusiveMinimum: true }, { exclusiveMinimum: 0 }],
  ["limits that are included", { maximum: 9, exclusiveMaximum: false }, { maximum: 9 }],
  ["a limit of nothing", { exclusiveMaximum: true }, {}],
  [
    "dependencies",
    { dependencies: { a: ["b"], c: { items: [number] } } },
    { dependentRequired: { a: ["b"] }, dependentSchemas: { c: { prefixItems: [number] } } },
  ],
  [
    "parts at any depth",
    { properties: { items: { anyOf: [{ items: [number] }] } }, definitions: { x: { items: [number] } } },
    { properties: { items: { anyOf: [{ prefixItems: [number] }] } }, definitions: { x: { prefixItems: [number] } } },
  ],
  ["data", { enum: [{ items: [1] }], default: { items: [1] } }, { enum: [{ items: [1] }], default: { items: [1] } }],
])("%s of older drafts are read as those of 2020-12", (_, schema, modern) => {
  expect(modernSchema(schema)).toEqual(modern);
  expect(checkSchema(modern)).toEqual([]);
});

test("a tool with a tuple is offered", () => {
  const { read, listing } = createToolReader(null);
  const inputSchema = {
    $schema: "http://json-schema.org/draft-07/schema#",
    type: "object",
    properties: { at: { type: "array", items: [number, number], minItems: 2, maxItems: 2 } },
  };
  read([{ name: "move", inputSchema }]);
  expect(listing.skipped).toEqual([]);
  expect(listing.tools[0]!.parameters).toMatchObject({ properties: { at: { prefixItems: [number, number] } } });
});

test("a dangerous name stays where it is, and the tool is left out", () => {
  const { read, listing } = createToolReader(null);
  read([{ name: "bad", inputSchema: JSON.parse('{"type":"object","__proto__":{"items":[{}]}}') }]);
  expect(listing.skipped).toMatchObject([{ name: "bad", reason: expect.stringContaining("__proto__") }]);
});
