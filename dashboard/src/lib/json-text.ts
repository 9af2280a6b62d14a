import { isExactNumber, parseExact } from "../../../server/lib/exact-numbers.ts";

/** A parsed value, or the error. */
type ReadJson = { value: unknown; fault: null } | { value: undefined; fault: string };

/**
 * Nesting limit, far above the API's. Deeper values could be parsed, but recursion over them would overflow the stack.
 */
const maxDepth = 500;

/** Returns the nesting depth. */
function nestingDepth(text: string): number {
  if (text.length <= 2 * maxDepth) return 0;
  let depth = 0;
  let most = 0;
  for (const [sign] of text.matchAll(/"(?:[^"\\]|\\.)*"?|[[\]{}]/gs)) {
    if (sign === "[" || sign === "{") most = Math.max(most, ++depth);
    else if (sign === "]" || sign === "}") depth--;
  }
  return most;
}

/** Parses JSON while it is being typed; returns the error instead of throwing. */
export function readJson(text: string): ReadJson {
  if (text.trim() === "") return { value: undefined, fault: "Enter a JSON value. Put text in quotes." };
  if (nestingDepth(text) > maxDepth)
    return { value: undefined, fault: `Invalid JSON: nested deeper than ${maxDepth} levels` };
  try {
    return { value: parseExact(text), fault: null };
  } catch (error) {
    return { value: undefined, fault: `Invalid JSON: ${error instanceof Error ? error.message : "unknown"}` };
  }
}

/** Formats a value as editable JSON. */
export const jsonText = (value: unknown): string => JSON.stringify(value, null, 2) ?? "null";

/** True for a JSON object: no array, null or exact number. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isExactNumber(value);
}

/** Returns the value if it is an object, otherwise an empty object. */
export function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !isExactNumber(value) ? (value as Record<string, unknown>) : {};
}

/** Parses a whole number; other text stays, so that the server reports the error. */
export const numberIn = (text: string): number | string => (/^\d+$/.test(text.trim()) ? Number(text) : text);
