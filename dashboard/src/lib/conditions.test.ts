import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { conditionsOf, schemaOfConditions } from "./conditions.ts";

const number = fc.double({ noNaN: true, noDefaultInfinity: true }).filter((each) => !Object.is(each, -0));
// JSON has no -0.
const value = fc.jsonValue({ maxDepth: 1 }).map((each) => JSON.parse(JSON.stringify(each)));
const name = fc.string({ minLength: 1 }).filter((each) => each !== "__proto__");
const property = fc
  .record(
    {
      const: value,
      enum: fc.array(value, { minLength: 1 }),
      minimum: number,
      exclusiveMaximum: number,
      pattern: fc.string({ minLength: 1 }).filter((each) => !/[\r\n]/.test(each)),
    },
    { requiredKeys: [] },
  )
  .filter((each) => Object.keys(each).length > 0);
const schema = fc.record(
  {
    properties: fc.dictionary(name, property, { minKeys: 1, maxKeys: 4 }),
    required: fc.uniqueArray(name, { minLength: 1, maxLength: 3 }),
  },
  { requiredKeys: [] },
);

describe("approval conditions", () => {
  test("convert to a schema and back without loss", () => {
    fc.assert(fc.property(schema, (each) => expect(schemaOfConditions(conditionsOf(each)!)).toEqual(each as never)));
  });

  test("are parsed one by one", () => {
    const when = { properties: { usd: { exclusiveMinimum: 100 }, to: { enum: ["Oslo", "7", 7] } }, required: ["usd"] };
    expect(conditionsOf(when)).toEqual([
      { name: "usd", test: "exclusiveMinimum", value: "100" },
      { name: "to", test: "enum", value: 'Oslo\n"7"\n7' },
      { name: "usd", test: "given", value: "" },
    ]);
  });

  test("are null for a schema that they cannot express", () => {
    const beyond = [
      true,
      { not: { required: ["a"] } },
      { properties: { a: { minLength: 2 } } },
      { properties: { a: true } },
      { properties: { a: { properties: { b: { const: 1 } } } } },
      { properties: { a: { minimum: "1" } } },
      { required: [1] },
      { required: Array.from({ length: 201 }, (_, i) => `a${i}`) },
    ];
    for (const each of beyond) expect([each, conditionsOf(each)]).toEqual([each, null]);
  });

  test("omit incomplete ones", () => {
    const written = [
      { name: "", test: "const" as const, value: "1" },
      { name: "usd", test: "minimum" as const, value: "" },
      { name: "usd", test: "maximum" as const, value: "many" },
    ];
    expect(schemaOfConditions(written)).toEqual({ properties: { usd: { maximum: "many" } } });
  });
});
