import { expect, test } from "bun:test";
import { exampleArguments } from "./example-arguments.ts";

test("example arguments have a simple value for each property", () => {
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
    city: "text",
    days: 2,
    unit: "celsius",
    tags: ["text"],
    odd: null,
  });
  expect(exampleArguments(null)).toEqual({});
});

test("an example string matches format and length", () => {
  const texts = {
    day: { type: "string", format: "date" },
    mail: { type: "string", format: "email" },
    odd: { type: "string", format: "constructor" },
    long: { type: "string", minLength: 6 },
    short: { type: "string", maxLength: 2 },
    huge: { type: "string", minLength: 1e9 },
  };
  const { huge, ...rest } = exampleArguments({ type: "object", properties: texts });
  expect(rest).toEqual({ day: "2026-01-31", mail: "ada@example.com", odd: "text", long: "textxx", short: "te" });
  expect(huge).toHaveLength(1000);
});

test("a recursive schema terminates", () => {
  const deep: Record<string, unknown> = { type: "object", properties: {} };
  (deep.properties as Record<string, unknown>).self = deep;
  expect(exampleArguments(deep)).toHaveProperty("self");
});
