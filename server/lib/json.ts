import { isExactNumber, parseExact } from "./exact-numbers.ts";

/** What a text says as JSON, its numbers by {@link parseExact}; undefined for a text that is none. */
export function parsedJson(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}

/** The same with ordinary numbers, where they are computed with and go nowhere: a score may come with more digits. */
export function roundedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What a text says by {@link parsedJson}; one that is no JSON stands for itself. */
export function jsonOrText(text: string): unknown {
  const value = parsedJson(text);
  return value === undefined ? text : value;
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !isExactNumber(value);

/** The fields of what may be an object; none of anything else. */
export const fieldsOf = (value: unknown): Record<string, unknown> =>
  hasParts(value) ? (value as Record<string, unknown>) : {};

/** Whether a value is a list or an object, and not a single text, number or word. */
export const hasParts = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !isExactNumber(value);
