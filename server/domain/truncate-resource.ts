import { hasParts } from "../lib/json.ts";

/** Maximal UTF-16 code units of a text in a list; longer ones are cut. */
export const longestText = 4096;
/** Maximal characters of a value's JSON in a list; longer values are left out. */
const longestValue = 8192;

// These have limits of their own and are useless in part.
const kept = new Set(["metadata", "required_action", "replay"]);

/**
 * Returns a resource for a list: long texts are cut, other long values are emptied, and errors keep the beginnings of
 * their texts. `truncated` names these fields, if there are any.
 */
export function truncateResource<Item extends object & { truncated?: string[] }>(item: Item): Item {
  const truncated = new Set(item.truncated);
  const short: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(item)) {
    short[name] = kept.has(name) ? value : shortOf(name, value);
    if (short[name] !== value) truncated.add(name);
  }
  return (truncated.size === 0 ? item : { ...short, truncated: [...truncated] }) as Item;
}

/** True if a list leaves the value out. */
export const isLong = (value: unknown): boolean => hasParts(value) && JSON.stringify(value).length > longestValue;

function shortOf(name: string, value: unknown): unknown {
  if (typeof value === "string") return beginningOf(value);
  if (!isLong(value)) return value;
  if (Array.isArray(value)) return [];
  const parts = name === "error" ? Object.entries(value as object) : [];
  return Object.fromEntries(parts.map(([each, part]) => [each, shortOf(each, part)]));
}

function beginningOf(text: string): string {
  if (text.length <= longestText) return text;
  const cut = text.slice(0, longestText);
  return cut.isWellFormed() ? cut : cut.slice(0, -1); // The cut may split a surrogate pair.
}
