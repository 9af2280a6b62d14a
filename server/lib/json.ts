import { isExactNumber, parseExact } from "./exact-numbers.ts";

/** Parses JSON with {@link parseExact}; returns undefined if the text is not JSON. */
export function parsedJson(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}

/** Parses JSON with ordinary numbers, for values that are only computed with: a score may have more digits. */
export function roundedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Parses JSON with {@link parsedJson}; returns the text itself if it is not JSON. */
export function jsonOrText(text: string): unknown {
  const value = parsedJson(text);
  return value === undefined ? text : value;
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !isExactNumber(value);

/** Returns the value if it is an object or a list, otherwise an empty object. */
export const fieldsOf = (value: unknown): Record<string, unknown> =>
  hasParts(value) ? (value as Record<string, unknown>) : {};

/** True for lists and objects, false for a single string, number or literal. */
export const hasParts = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !isExactNumber(value);
