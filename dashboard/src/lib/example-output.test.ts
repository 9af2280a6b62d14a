import { expect, test } from "bun:test";
import { exampleOutput } from "./example-output.ts";

test("an example of an output has what was asked, and plain values for the rest of the schema", () => {
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
  expect(exampleOutput(parameters, { city: "Oslo" })).toEqual({
    ...{ city: "Oslo", days: 2, unit: "celsius", tags: ["text"], odd: null, result: "Done" },
  });
  expect(exampleOutput(null, "none")).toEqual({ result: "Done" });
});

test("a schema without an end ends", () => {
  const deep: Record<string, unknown> = { type: "object", properties: {} };
  (deep.properties as Record<string, unknown>).self = deep;
  expect(exampleOutput(deep, {})).toHaveProperty("result");
});
