import { parsedJson } from "../lib/json.ts";
import { validateAgainst } from "../lib/json-schema.ts";
import type { JsonSchema } from "./model-call.ts";

/** Parses an answer by its schema, if there is one. */
export function checkOutput(
  text: string,
  schema: JsonSchema | null,
): { ok: true; value: unknown } | { ok: false; fault: string } {
  if (!schema) return { ok: true, value: null };
  const value = parsedJson(text);
  if (value === undefined) return { ok: false, fault: "it is not JSON." };
  const [fault] = validateAgainst(schema, value);
  return fault ? { ok: false, fault: `${fault.path || "the value"} ${fault.message}.` } : { ok: true, value };
}
