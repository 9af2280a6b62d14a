import { expect, test } from "bun:test";
import type { TObject } from "@sinclair/typebox";
import { ApiKey } from "../../../server/domain/api-types/key.ts";
import { Trace, TraceStep } from "../../../server/domain/api-types/trace.ts";
import { validateAgainst } from "../../../server/lib/json-schema.ts";
import { apiKeyFixture } from "../features/keys/key-fixtures.ts";
import { stepOf, traceOf } from "../features/trace/trace-fixtures.ts";

// The server's own tests check its responses against the same schemas, so these fixtures match real responses.
test.each<[string, TObject, object]>([
  ["a key", ApiKey, apiKeyFixture()],
  ["a step of a trace", TraceStep, stepOf(0)],
  ["a trace", Trace, { ...traceOf(), steps: [stepOf(0), stepOf(1)], steps_has_more: false }],
])("the fixture of %s matches the server's schema, with every field", (_, schema, made) => {
  expect(validateAgainst({ ...schema, additionalProperties: false }, made)).toEqual([]);
  const [field] = schema.required!;
  const { [field as keyof typeof made]: _gone, ...less } = made;
  expect(validateAgainst({ ...schema }, less)).not.toEqual([]);
});
