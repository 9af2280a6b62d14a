import { limits } from "../../../../server/domain/limits.ts";
import { isJsonObject } from "../../lib/json-text.ts";

const { metadata_pairs, metadata_key_length, metadata_value_length } = limits;

/** Validates a value as metadata; returns the error or null. */
export function metadataFault(value: unknown): string | null {
  if (!isJsonObject(value)) return 'Metadata is an object of strings: { "order": "4711" }.';
  const entries = Object.entries(value);
  if (entries.length > metadata_pairs) return `At most ${metadata_pairs} pairs can be kept.`;
  for (const [key, each] of entries) {
    if (typeof each !== "string") return `The value of “${key}” is not a string. Put strings in quotes.`;
    if (key.length > metadata_key_length)
      return `The key “${key.slice(0, 20)}…” is longer than ${metadata_key_length} characters.`;
    if (each.length > metadata_value_length)
      return `The value of “${key}” is longer than ${metadata_value_length} characters.`;
  }
  return null;
}
