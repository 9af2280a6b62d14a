import type { JsonSchema } from "../../../domain/model-call.ts";
import { checkSchema, validateAgainst } from "../../../lib/json-schema.ts";
import type { Complain, GuardrailKind } from "./guardrail-kind.ts";

/** Validates a whole input, output or call against a JSON Schema. */
export const kind: GuardrailKind = {
  about: "shape",
  required: { schema: checkOwnSchema },
  fits: ({ schema }, value) => value !== undefined && validateAgainst(schema as JsonSchema, value).length === 0,
  message: () => "It does not fit the schema.",
};

function checkOwnSchema(value: unknown, path: string, complain: Complain): void {
  for (const message of checkSchema(value)) complain(path, `${message}.`);
}
