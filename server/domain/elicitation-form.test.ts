import { expect, test } from "bun:test";
import { addressWarning, elicitationContent, elicitationFields, missingFields } from "./elicitation-form.ts";

const schema = {
  type: "object",
  properties: {
    name: { type: "string", title: "Name", description: "As on the passport." },
    mail: { type: "string", format: "email", default: "a@example.com" },
    age: { type: "integer" },
    member: { type: "boolean", default: true },
    color: { type: "string", enum: ["r", "g"], enumNames: ["Red", "Green"] },
    size: { type: "string", oneOf: [{ const: "s", title: "Small" }, { const: "l" }] },
    extras: {
      type: "array",
      items: {
        anyOf: [
          { const: "a", title: "Air" },
          { const: "b", title: "Bag" },
        ],
      },
    },
  },
  required: ["name", "extras"],
};

test("every kind of property that a server may ask for is a field", () => {
  const fields = elicitationFields(schema);
  expect(fields.map(({ name, type, label, isRequired }) => [name, type, label, isRequired])).toEqual([
    ["name", "text", "Name", true],
    ["mail", "text", "mail", false],
    ["age", "number", "age", false],
    ["member", "boolean", "member", false],
    ["color", "choice", "color", false],
    ["size", "choice", "size", false],
    ["extras", "choices", "extras", true],
  ]);
  expect(fields.map(({ options }) => options.map(({ label }) => label).join(" "))).toEqual([
    "",
    "",
    "",
    "",
    "Red Green",
    "Small l",
    "Air Bag",
  ]);
  expect(fields.map(({ initial }) => initial)).toEqual([[], ["a@example.com"], [], ["true"], [], [], []]);
});

test("an answer has the types that the schema asks for, and no empty fields", () => {
  const values = { name: ["Ada"], mail: [""], age: ["36"], member: ["true"], color: ["g"], extras: ["b"] };
  expect(elicitationContent(elicitationFields(schema), values)).toEqual({
    name: "Ada",
    age: 36,
    member: true,
    color: "g",
    extras: ["b"],
  });
  expect(elicitationContent(elicitationFields(schema), {})).toEqual({ member: false, extras: [] });
});

test("required fields without a value are missing, but never a checkbox", () => {
  const fields = elicitationFields({
    ...schema,
    required: ["name", "age", "member", "color", "extras"],
  });
  expect(missingFields(fields, {})).toEqual(["name", "age", "color", "extras"]);
  const values = { name: ["Ada"], age: ["0"], color: ["r"], extras: ["a"], mail: [""] };
  expect(missingFields(fields, values)).toEqual([]);
  expect(missingFields(fields, { ...values, extras: [] })).toEqual(["extras"]);
});

test("a schema that is none has no fields", () => {
  expect(elicitationFields({})).toEqual([]);
  expect(elicitationFields({ properties: { a: null } })).toMatchObject([{ name: "a", type: "text" }]);
});

test.each<[string, RegExp | null]>([
  ["https://bank.example.com/sign-in", null],
  ["https://xn--bnk-qla.example.com/", /other alphabets/],
  ["https://b\u00e4nk.example.com/", /other alphabets/],
  ["https://my-xn--shop.example.com/", null],
  ["http://bank.example.com/", /not encrypted/],
  ["http://127.0.0.1:8080/", null],
  ["http://localhost/", null],
])("what a person should know of %s before it is opened", (address, warning) => {
  const said = addressWarning(address);
  if (warning) expect(said).toMatch(warning);
  else expect(said).toBeNull();
});
