import { isObject, parsedJson } from "../lib/json.ts";

const fence = /```[ \t]*\w*[ \t]*\n/;

/**
 * Returns the JSON text of an answer: the whole text, the only code block in it, or the only object or list in its
 * prose. Null if there is none, or several.
 */
export function jsonAnswer(text: string): string | null {
  if (parsedJson(text) !== undefined) return text;
  const fenced = onlyFence(text);
  if (fenced !== null) return parsedJson(fenced) === undefined ? null : fenced;
  const from = text.search(/[{[]/);
  const to = Math.max(text.lastIndexOf("}"), text.lastIndexOf("]"));
  const inner = from === -1 ? "" : text.slice(from, to + 1);
  const value = parsedJson(inner);
  return isObject(value) || Array.isArray(value) ? inner : null;
}

/** Returns the content of the only code block; null if there is none, or several. */
function onlyFence(text: string): string | null {
  const [, after, ...more] = text.split(fence);
  if (after === undefined || more.length > 0) return null;
  const end = after.lastIndexOf("```");
  return end === -1 ? null : after.slice(0, end).trim();
}

/** True for JSON that breaks off, as if the answer reached its maximum length. */
export const isCutJson = (text: string): boolean => /^\s*[{[]/.test(text) && !/[}\]]$/.test(text.trimEnd());
