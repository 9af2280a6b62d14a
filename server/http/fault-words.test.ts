import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { time } from "../lib/schema.ts";
import { firstFault } from "./errors.ts";
import { idOf } from "./schemas.ts";

const messageOf = (schema: Parameters<typeof Value.Errors>[0], value: unknown): string =>
  firstFault(Value.Errors(Type.Object({ field: schema }), { field: value })).message;

test.each([
  ["Must look like `agt_…`.", idOf("agent"), "clerk"],
  ["Must be at least 1.", Type.Integer({ minimum: 1 }), 0],
  ["Must be at most 2.", Type.Number({ maximum: 2 }), 2.5],
  ["Must be more than 0.", Type.Number({ exclusiveMinimum: 0 }), 0],
  ["Must be less than 10.", Type.Integer({ exclusiveMaximum: 10 }), 10],
  ["Must be a multiple of 5.", Type.Integer({ multipleOf: 5 }), 7],
  ["Must not be empty.", Type.String({ minLength: 1 }), ""],
  ["Must have at least 8 characters.", Type.String({ minLength: 8 }), "short"],
  ["Must have at most 3 characters.", Type.String({ maxLength: 3 }), "long"],
  ["Must not be empty.", Type.Array(Type.String(), { minItems: 1 }), []],
  ["Must have at least 2 items.", Type.Array(Type.String(), { minItems: 2 }), ["a"]],
  ["Must have at most 1 item.", Type.Array(Type.String(), { maxItems: 1 }), ["a", "b"]],
  ["Must not have an item twice.", Type.Array(Type.String(), { uniqueItems: true }), ["a", "a"]],
  ["Must have at most 1 field.", Type.Record(Type.String(), Type.String(), { maxProperties: 1 }), { a: "", b: "" }],
  ["Must not be empty.", Type.Object({}, { minProperties: 1 }), {}],
  ["Must be an integer.", Type.Integer(), "3"],
  ["Must be an integer.", Type.Integer(), 1.5],
  ["Must be a number.", Type.Number(), "3"],
  ["Must be a boolean.", Type.Boolean(), "yes"],
  ["Must be a string.", Type.String(), 3],
  ["Must be a list.", Type.Array(Type.String()), "a"],
  ["Must be an object.", Type.Object({}), []],
  ["Must be null.", Type.Null(), 0],
  ['Must be "oauth".', Type.Literal("oauth"), "key"],
  ["Must be a time such as `2026-11-21T01:20:00.123Z`.", time, "yesterday"],
])("a value that breaks the rule of its schema is told: %s", (message, schema, value) => {
  expect(messageOf(schema, value)).toBe(`field: ${message}`);
});

test("the server's own rules are worded like those of schemas", () => {
  const isMessage = /["'`]Expected [a-z<$"[]/;
  const folders = /^(domain|resources|runs|http|services|dashboard-api|runtime\/guardrails)\//;
  const server = new URL("..", import.meta.url).pathname;
  const all = [...new Bun.Glob("**/*.ts").scanSync(server)];
  const sources = all.filter((path) => folders.test(path) && !/\.test\.ts$|__fixtures__/.test(path));
  expect(sources.length).toBeGreaterThan(300);
  const odd = sources.filter((path) => isMessage.test(readFileSync(`${server}${path}`, "utf8")));
  // The schema library's own words, which are replaced there.
  expect(odd).toEqual(["http/errors.ts"]);
});
