import { expect, test } from "bun:test";
import { exampleArguments } from "./example-arguments.ts";

test("example arguments have a plain value for each property of the schema", () => {
  const parameters = {
    type: "object",
    properties: {
      city: { type: "string" },
      days: { type: "integer", minimum: 2 },
      unit: { enum: ["celsius", "kelvin"] },
      tags: { type: "array", items: { type: "string" } },
      odd: true,
    },
  };
  expect(exampleArguments(parameters)).toEqual({
    ...{ city: "text", days: 2, unit: "celsius", tags: ["text"], odd: null },
  });
  expect(exampleArguments(null)).toEqual({});
});

test("a schema without an end ends", () => {
  const deep: Record<string, unknown> = { type: "object", properties: {} };
  (deep.properties as Record<string, unknown>).self = deep;
  expect(exampleArguments(deep)).toHaveProperty("self");
});
