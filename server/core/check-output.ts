import { validateAgainst } from "../lib/json-schema.ts";
import type { JsonSchema } from "./model-call.ts";

/** Reads an answer by the schema that it has to fit, if there is one. */
export function checkOutput(
  text: string,
  schema: JsonSchema | null,
): { ok: true; value: unknown } | { ok: false; fault: string } {
  if (!schema) return { ok: true, value: null };
  try {
    const value: unknown = JSON.parse(text);
    const [fault] = validateAgainst(schema, value);
    return fault ? { ok: false, fault: `${fault.path || "the value"} ${fault.message}.` } : { ok: true, value };
  } catch {
    return { ok: false, fault: "it is not JSON." };
  }
}
