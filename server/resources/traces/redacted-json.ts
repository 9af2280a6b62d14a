import { hasParts } from "../../lib/json.ts";
import { redact } from "../../lib/redact.ts";

/** Redacts a JSON value, in keys and texts. */
export function redactedJson<T>(value: T): T {
  return redactedValue(value) as T;
}

function redactedValue(value: unknown): unknown {
  if (typeof value === "string") return redact(value);
  if (!hasParts(value)) return value;
  if (Array.isArray(value)) return value.map(redactedValue);
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [redact(name), redactedValue(inner)]));
}
