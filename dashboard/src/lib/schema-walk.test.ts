import { describe, expect, test } from "bun:test";
import { parseExact } from "../../../server/lib/exact-numbers.ts";
import { schemaOfSchemas } from "./schema-of-schemas.ts";
import { descriptionAt, propertiesAt, schemasAt, typeWords, valueFaults, valuesAt } from "./schema-walk.ts";

const order = {
  type: "object",
  required: ["id"],
  additionalProperties: false,
  properties: {
    id: { type: "string", description: "Of the order." },
    state: { enum: ["open", "paid"] },
    address: { $ref: "#/$defs/address" },
    items: { type: "array", items: { type: "object", properties: { count: { type: "integer" } } } },
    paid: { type: ["boolean", "null"] },
  },
  $defs: { address: { type: "object", properties: { city: { type: "string" }, next: { $ref: "#/$defs/address" } } } },
};

describe("a schema's information about a path", () => {
  test("is found through properties, lists and references", () => {
    const names = (path: (string | number)[]) => propertiesAt(order, path).map(({ name }) => name);
    expect(names([])).toEqual(["id", "state", "address", "items", "paid"]);
    expect(names(["address"])).toEqual(["city", "next"]);
    expect(names(["address", "next", "next"])).toEqual(["city", "next"]);
    expect(names(["items", 3])).toEqual(["count"]);
    expect(names(["unheard", "of"])).toEqual([]);
    expect(propertiesAt(order, []).filter(({ isRequired }) => isRequired)).toMatchObject([{ name: "id" }]);
  });

  test("has its values, type and description", () => {
    expect(valuesAt(order, ["state"])).toEqual(["open", "paid"]);
    expect(valuesAt(order, ["paid"])).toEqual([true, false, null]);
    expect(typeWords(schemasAt(order, ["paid"]))).toBe("boolean or null");
    expect(typeWords(schemasAt(order, ["state"]))).toBe("one of several values");
    expect(descriptionAt(order, ["id"])).toBe("Of the order.");
  });

  test("terminates for circular references and is empty for missing ones", () => {
    const circle = { $ref: "#/$defs/a", $defs: { a: { anyOf: [{ $ref: "#/$defs/a" }, { $ref: "#/$defs/%" }] } } };
    expect(propertiesAt(circle, ["x"])).toEqual([]);
    expect(valueFaults(circle, { x: 1 })).toEqual([]);
    const self = { $ref: "#/$defs/a" };
    const dense = { ...self, $defs: { a: { anyOf: Array(9).fill(self), properties: { next: self } } } };
    expect(propertiesAt(dense, Array(9).fill("next"))).toMatchObject([{ name: "next" }]);
  });
});

describe("validation against a schema", () => {
  test("reports an error at its path", () => {
    expect(valueFaults(order, { id: "1", address: { city: "Oslo" }, items: [{ count: 2 }], paid: null })).toEqual([]);
    expect(valueFaults(order, { state: "gone", items: [{ count: 1 }, { count: "2" }], more: 1 })).toEqual([
      { path: [], message: "“id” is missing." },
      { path: ["more"], message: "“more” is unknown here." },
    ]);
    expect(valueFaults(order, { id: 1, state: "gone", items: [{}, { count: 1.5 }] })).toEqual([
      { path: ["id"], message: "Must be of type string." },
      { path: ["state"], message: 'Must be one of "open", "paid".' },
      { path: ["items", 1, "count"], message: "Must be of type integer." },
    ]);
    expect(valueFaults(order, [])).toEqual([{ path: [], message: "Must be of type object." }]);
  });

  test("skips parts where the schema allows alternatives", () => {
    expect(valueFaults({ anyOf: [{ type: "string" }, { type: "number" }] }, true)).toEqual([]);
  });

  test("applies to schemas themselves at any depth", () => {
    expect(valueFaults(schemaOfSchemas, order)).toEqual([]);
    expect(valueFaults(schemaOfSchemas, { properties: { a: { items: { minLength: "2" } } }, required: "a" })).toEqual([
      { path: ["properties", "a", "items", "minLength"], message: "Must be of type integer." },
      { path: ["required"], message: "Must be of type array." },
    ]);
  });
});

test("an exact number is a number, and an integer without a fraction", () => {
  const [integer, fraction] = ["2512292042121000001", "0.1234567890123456789"].map(parseExact);
  const faultsOf = (type: string, value: unknown) => valueFaults({ type }, value).map(({ message }) => message);
  expect([faultsOf("integer", integer), faultsOf("number", fraction)]).toEqual([[], []]);
  expect(faultsOf("integer", fraction)).toEqual(["Must be of type integer."]);
  expect(faultsOf("object", integer)).toEqual(["Must be of type object."]);
});
