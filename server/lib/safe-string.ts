import { isExactNumber } from "./exact-numbers.ts";

/**
 * Converts an external value into a name or a part of a URL; never throws. Anything but a string, number or boolean
 * becomes empty, and lone surrogates are replaced, because a URL cannot have them.
 */
export const toSafeString = (value: unknown): string =>
  isExactNumber(value)
    ? value.rawJSON
    : ["string", "number", "boolean"].includes(typeof value)
      ? String(value).toWellFormed()
      : "";

/** Decodes a text made by `encodeURIComponent`; null for any other. */
export function decodeUri(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
