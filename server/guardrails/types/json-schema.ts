import { checkSchema } from "../../lib/json-schema.ts";
import type { Complain, GuardrailKind } from "./guardrail-kind.ts";

/** The shape of a whole input, output or call. */
export const jsonSchema: GuardrailKind = {
  required: { schema: checkOwnSchema },
  message: () => "It does not fit the schema.",
};

function checkOwnSchema(value: unknown, path: string, complain: Complain): void {
  for (const message of checkSchema(value)) complain(path, `${message}.`);
}
