import { expect, test } from "bun:test";
import { z } from "zod";
import * as mini from "zod/mini";
import { RunnelError } from "./errors.ts";
import { jsonSchemaOf, type StandardSchema } from "./schema.ts";
import { definitionOf, tool } from "./tool.ts";
import type { ToolContext } from "./tool-calls.ts";

const context = {} as ToolContext;

test("a zod schema becomes the JSON Schema of a tool, and its arguments are what zod makes of them", async () => {
  const parameters = z.object({ city: z.string().describe("Its name."), unit: z.enum(["C", "F"]).default("C") });
  const weather = tool({ name: "weather", description: "The weather.", parameters, run: (args) => args });
  expect(definitionOf(weather)).toEqual({
    type: "client",
    name: "weather",
    description: "The weather.",
    parameters: {
      type: "object",
      properties: {
        city: { type: "string", description: "Its name." },
        unit: { type: "string", enum: ["C", "F"], default: "C" },
      },
      required: ["city"],
    },
  });
  expect(await weather.run({ city: "Oslo" }, context)).toEqual({ city: "Oslo", unit: "C" });
});

test("arguments that do not fit the schema are an error that names them, and the function is not called", async () => {
  let called = 0;
  const weather = tool({ name: "weather", parameters: z.object({ city: z.string().min(3) }), run: () => called++ });
  const refusal = weather.run({ city: "O" }, context);
  await expect(Promise.resolve(refusal)).rejects.toThrow(/^city: .*3/);
  expect(called).toBe(0);
});

test("a JSON Schema is sent as it is, and a tool without one takes nothing", () => {
  const parameters = { type: "object", properties: { city: { type: "string" } } };
  expect(tool({ name: "a", parameters, run: () => 1 }).parameters).toBe(parameters);
  expect(tool({ name: "b", run: () => 1 }).parameters).toEqual({ type: "object", properties: {} });
});

test("a schema whose library writes no JSON Schema is refused with what helps", () => {
  const parameters: StandardSchema = { "~standard": { version: 1, vendor: "old", validate: (value) => ({ value }) } };
  expect(() => tool({ name: "a", parameters, run: () => 1 })).toThrow(RunnelError);
  expect(() => tool({ name: "a", parameters, run: () => 1 })).toThrow("old cannot write a JSON Schema");
});

test("a schema that JSON cannot have is refused with the tool's name, and not with zod's words alone", () => {
  const schemas: StandardSchema[] = [
    z.object({ from: z.date() }),
    z.object({ at: z.map(z.string(), z.int()) }),
    z.object({ big: z.bigint() }),
  ];
  for (const parameters of schemas) {
    expect(() => tool({ name: "book", parameters, run: () => 1 })).toThrow(RunnelError);
    expect(() => tool({ name: "book", parameters, run: () => 1 })).toThrow(/^The tool book: zod cannot write/);
  }
  expect(() => jsonSchemaOf(z.object({ at: z.date() }), "The schema of the output")).toThrow(
    "The schema of the output",
  );
});

test("a schema of zod/mini is refused with the way that works, which is then sent", () => {
  const schema = mini.object({ city: mini.string() });
  expect(() => tool({ name: "weather", parameters: schema, run: () => 1 })).toThrow("z.toJSONSchema(schema)");
  const { $schema: _, ...parameters } = mini.toJSONSchema(schema);
  const weather = tool<{ city: string }>({ name: "weather", parameters, run: ({ city }) => city });
  expect(weather.parameters).toMatchObject({ type: "object", required: ["city"] });
});

test("a tool without a function is refused when it is made, and not when a model calls it", () => {
  // biome-ignore lint/suspicious/noExplicitAny: as a program without types has it.
  expect(() => tool({ name: "weather", parameters: {} } as any)).toThrow("The tool weather has no function");
});
