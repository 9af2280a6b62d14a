import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { isJsonObject } from "./json-text.ts";
import { changeType, hiddenWords, newRow, partOf, rowCount, schemaOf } from "./schema-rows.ts";

const keyword = fc.oneof(
  fc.record({ minimum: fc.integer() }),
  fc.record({ pattern: fc.string() }),
  fc.record({ default: fc.jsonValue() }),
  fc.constant({}),
);
const named = fc.dictionary(fc.string(), fc.constantFrom(0, 1, 2), { maxKeys: 3 });
const { schema } = fc.letrec<{ schema: unknown; leaf: unknown; object: unknown; list: unknown; odd: unknown }>(
  (tie) => ({
    schema: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      tie("leaf"),
      tie("object"),
      tie("list"),
      tie("odd"),
    ),
    leaf: fc
      .tuple(
        fc.record(
          {
            type: fc.constantFrom("string", "number", "integer", "boolean", "null", ["string", "null"], "novel"),
            description: fc.oneof(fc.string(), fc.integer()),
            enum: fc.array(fc.oneof(fc.string(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean())),
          },
          { requiredKeys: [] },
        ),
        keyword,
      )
      .map(([own, more]) => ({ ...own, ...more })),
    object: fc
      .tuple(fc.dictionary(fc.string(), tie("schema"), { maxKeys: 3 }), named, keyword, fc.boolean())
      .map(([properties, extra, more, isOdd]) => ({
        type: "object",
        properties,
        required: [...Object.keys(properties).slice(0, 1), ...(isOdd ? Object.keys(extra) : [])],
        ...more,
      })),
    list: fc.tuple(tie("schema"), keyword).map(([items, more]) => ({ type: "array", items, ...more })),
    odd: fc.oneof(fc.boolean(), fc.jsonValue(), fc.constant({ anyOf: [{ type: "string" }, { type: "null" }] })),
  }),
);

/** Removes parts of a schema without effect: empty properties and empty `required`. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (!isJsonObject(value)) return Object.is(value, -0) ? 0 : value;
  const { properties, required, ...rest } = value;
  return Object.fromEntries(
    Object.entries({
      ...rest,
      ...(!(isJsonObject(properties) && Object.keys(properties).length === 0) && { properties }),
      ...(!(Array.isArray(required) && required.length === 0) && { required }),
    })
      .filter(([, inner]) => inner !== undefined)
      .map(([name, inner]) => [name, plain(inner)]),
  );
}

describe("a schema as rows", () => {
  test("converts back to the same schema", () => {
    fc.assert(fc.property(schema, (each) => expect(plain(schemaOf(partOf(each)))).toEqual(plain(each))));
  });

  test("has names, types, descriptions, values and nested fields, and lists hidden keywords", () => {
    const part = partOf({
      type: "object",
      required: ["city"],
      properties: {
        city: { type: "string", description: "Where.", enum: ["Oslo", "Lima"] },
        days: { type: "integer", minimum: 1, maximum: 7 },
        tags: { type: "array", items: { type: "object", properties: { name: { type: "string" } } } },
        either: { anyOf: [{ type: "string" }, { type: "null" }] },
      },
      additionalProperties: false,
    });
    expect(part.rows).toMatchObject([
      { name: "city", type: "string", isRequired: true, description: "Where.", values: ["Oslo", "Lima"] },
      { name: "days", type: "integer", isRequired: false },
      { name: "tags", type: "array", item: { type: "object", rows: [{ name: "name", type: "string" }] } },
      { name: "either", type: "any" },
    ]);
    expect(part.rows.map(hiddenWords)).toEqual([[], ["minimum", "maximum"], [], ["anyOf"]]);
    expect(hiddenWords(part)).toEqual(["additionalProperties"]);
  });

  test("stays JSON if a form would lose something: references, type lists, deep nesting", () => {
    const nested = (depth: number): unknown =>
      depth === 0 ? { type: "string" } : { type: "object", properties: { a: nested(depth - 1) } };
    expect(partOf({ type: ["string", "null"] }).type).toBe("other");
    expect(partOf(true).type).toBe("other");
    expect(partOf({ type: "object", required: ["gone"] }).type).toBe("other");
    const deep = partOf(nested(5));
    expect(deep.rows[0]!.rows[0]!.rows[0]!.type).toBe("other");
    expect(schemaOf(deep)).toEqual(nested(5));
  });
});

describe("rows as a schema", () => {
  const object = { ...partOf({ type: "object" }) };

  test("are counted at all depths", () => {
    const list = { type: "array", items: { type: "object", properties: { a: {}, b: {} } } };
    expect(rowCount(partOf({ type: "object", properties: { list, c: {} } }))).toBe(4);
  });

  test("omit unnamed rows and duplicate names", () => {
    const rows = [{ ...newRow, name: "a", isRequired: true }, newRow, { ...newRow, name: "a", description: "Second." }];
    expect(schemaOf({ ...object, rows })).toEqual({
      type: "object",
      properties: { a: { type: "string" } },
      required: ["a"],
    });
  });

  test("write numbers as numbers and drop settings of another type", () => {
    const row = { ...newRow, name: "n", type: "integer" as const, values: ["1", "2.5", "x"], rest: { minimum: 1 } };
    expect(schemaOf(row)).toEqual({ type: "integer", enum: [1, 2.5], minimum: 1 });
    expect(schemaOf(changeType(row, "array"))).toEqual({ type: "array", items: { type: "string" } });
  });
});
