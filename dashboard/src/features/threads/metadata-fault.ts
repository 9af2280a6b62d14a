import { isJsonObject } from "../../lib/json-text.ts";

/** What is wrong with a value as metadata, or null. */
export function metadataFault(value: unknown): string | null {
  if (!isJsonObject(value)) return 'Metadata is an object of texts: { "order": "4711" }.';
  const entries = Object.entries(value);
  if (entries.length > 16) return "At most 16 pairs can be kept.";
  for (const [key, each] of entries) {
    if (typeof each !== "string") return `The value of “${key}” is not a text. Texts stand in quotes.`;
    if (key.length > 64) return `The key “${key.slice(0, 20)}…” is longer than 64 characters.`;
    if (each.length > 512) return `The value of “${key}” is longer than 512 characters.`;
  }
  return null;
}
