import { isExactNumber, parseExact } from "../../../server/lib/exact-numbers.ts";

/** What a text is as JSON, or why it is none. */
type ReadJson = { value: unknown; fault: null } | { value: undefined; fault: string };

/** Far more than the API takes. What nests deeper can be read, but not walked through or written again. */
const deepest = 500;

/** How deep lists and objects stand in one another. */
function nests(text: string): number {
  if (text.length <= 2 * deepest) return 0;
  let depth = 0;
  let most = 0;
  for (const [sign] of text.matchAll(/"(?:[^"\\]|\\.)*"?|[[\]{}]/gs)) {
    if (sign === "[" || sign === "{") most = Math.max(most, ++depth);
    else if (sign === "]" || sign === "}") depth--;
  }
  return most;
}

/** Reads JSON while somebody writes it: what is wrong is told, not thrown. */
export function readJson(text: string): ReadJson {
  if (text.trim() === "") return { value: undefined, fault: "Enter a JSON value. Put text in quotes." };
  if (nests(text) > deepest) return { value: undefined, fault: `Invalid JSON: nested deeper than ${deepest} levels` };
  try {
    return { value: parseExact(text), fault: null };
  } catch (error) {
    return { value: undefined, fault: `Invalid JSON: ${error instanceof Error ? error.message : "unknown"}` };
  }
}

/** A value as JSON that a person edits. */
export const jsonText = (value: unknown): string => JSON.stringify(value, null, 2) ?? "null";

/** An object of JSON, for what has to be one: arguments. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isExactNumber(value);
}

/** The fields of what may be an object. */
export function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !isExactNumber(value) ? (value as Record<string, unknown>) : {};
}

/** A whole number where a text is one, else the text: the server says what is wrong with it. */
export const numberIn = (text: string): number | string => (/^\d+$/.test(text.trim()) ? Number(text) : text);
