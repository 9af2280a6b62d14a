import { isExactNumber } from "./exact-numbers.ts";

/**
 * A value that came from outside, as the text of a name or a part of an address; never throws. What is neither a text, a
 * number nor a boolean is empty, and half of a surrogate pair is replaced, since no address can have it.
 */
export const asText = (value: unknown): string =>
  isExactNumber(value)
    ? value.rawJSON
    : ["string", "number", "boolean"].includes(typeof value)
      ? String(value).toWellFormed()
      : "";

/** What `encodeURIComponent` made a text of; null for what it never makes. */
export function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
