import { hasParts } from "../lib/json.ts";

/** UTF-16 code units of a text in a list; what is longer is shortened to these. */
export const longestText = 4096;
/** Characters of the JSON of a value in a list; what is longer is left out. */
const longestValue = 8192;

// Bounded by themselves, and of no use in part.
const kept = new Set(["metadata", "required_action", "replay"]);

/**
 * A resource as it stands in a list: of a long text there is the beginning, another long value is empty, and an error
 * keeps what its texts begin with. `truncated` names these fields, if there are any.
 */
export function abridged<Item extends object & { truncated?: string[] }>(item: Item): Item {
  const truncated = new Set(item.truncated);
  const short: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(item)) {
    short[name] = kept.has(name) ? value : shortOf(name, value);
    if (short[name] !== value) truncated.add(name);
  }
  return (truncated.size === 0 ? item : { ...short, truncated: [...truncated] }) as Item;
}

/** Whether a list leaves a value out. */
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
  return cut.isWellFormed() ? cut : cut.slice(0, -1); // The cut may go through a pair.
}
