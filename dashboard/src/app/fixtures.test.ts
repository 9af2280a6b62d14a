import { expect, test } from "bun:test";
import type { TObject } from "@sinclair/typebox";
import { validateAgainst } from "../../../server/lib/json-schema.ts";
import { ApiKey } from "../../../server/wire/key.ts";
import { Trace, TraceStep } from "../../../server/wire/trace.ts";
import { someKey } from "../features/keys/key-fixtures.ts";
import { stepOf, traceOf } from "../features/trace/trace-fixtures.ts";

// A server's responses are held to the same schemas in its own tests: what is made up here is what one could send.
test.each<[string, TObject, object]>([
  ["a key", ApiKey, someKey()],
  ["a step of a trace", TraceStep, stepOf(0)],
  ["a trace", Trace, { ...traceOf(), steps: [stepOf(0), stepOf(1)], steps_has_more: false }],
])("%s that the dashboard's tests make up is what the server sends, to the last field", (_, schema, made) => {
  expect(validateAgainst({ ...schema, additionalProperties: false }, made)).toEqual([]);
  const [field] = schema.required!;
  const { [field as keyof typeof made]: _gone, ...less } = made;
  expect(validateAgainst({ ...schema }, less)).not.toEqual([]);
});
