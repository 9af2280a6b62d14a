import type { JsonSchema } from "../../core/model-call.ts";
import { checkSchema, validateAgainst } from "../../lib/json-schema.ts";
import type { Complain, GuardrailKind } from "./guardrail-kind.ts";

/** The shape of a whole input, output or call. */
export const kind: GuardrailKind = {
  about: "shape",
  required: { schema: checkOwnSchema },
  fits: ({ schema }, value) => value !== undefined && validateAgainst(schema as JsonSchema, value).length === 0,
  message: () => "It does not fit the schema.",
};

function checkOwnSchema(value: unknown, path: string, complain: Complain): void {
  for (const message of checkSchema(value)) complain(path, `${message}.`);
}
