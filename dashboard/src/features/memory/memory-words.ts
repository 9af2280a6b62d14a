import type { MemoryMatch as Match, Memory as Store } from "../../../../server/domain/api-types/memory.ts";
import { formatCount, joinFacts, plural } from "../../lib/format.ts";
import { isJsonObject, readJson } from "../../lib/json-text.ts";

/** Returns the embedding model and its dimensions: `builtin/all-minilm-l6-v2 · 384 dimensions`. */
export function embeddingWords({ embedding }: Pick<Store, "embedding">): string {
  return embedding ? `${embedding.model} · ${formatCount(embedding.dimensions)} dimensions` : "–";
}

/** Returns the number of entries or keys in words. */
export const sizeWords = ({ kind, entries, keys }: Pick<Store, "kind" | "entries" | "keys">): string => {
  return kind === "vector" ? plural(entries ?? 0, "entry") : plural(keys ?? 0, "key");
};

/** Returns the source of a passage: file, page, heading. */
export function sourceWords({ filename, page, heading, file_id }: Match): string {
  const name = filename ?? (file_id ? "A deleted file" : "Text");
  return joinFacts(name, page !== null && `page ${page}`, heading);
}

const units = [
  [86_400, "day"],
  [3600, "hour"],
  [60, "minute"],
] as const;

/** Returns an expiry in words: `90 days`, `2 hours`, `45 seconds`; null: `Keep indefinitely`. */
export function lifetimeWords(seconds: number | null): string {
  if (seconds === null) return "Keep indefinitely";
  const [size, word] = units.find(([size]) => seconds % size === 0) ?? [1, "second"];
  return plural(seconds / size, word);
}

/** Parses metadata or a filter. An empty text has no value. */
export function readObject(text: string): { value: Record<string, unknown> | undefined; fault: string | null } {
  if (text.trim() === "") return { value: undefined, fault: null };
  const { value, fault } = readJson(text);
  if (fault !== null) return { value: undefined, fault };
  return isJsonObject(value) ? { value, fault: null } : { value: undefined, fault: "Must be an object: { … }." };
}

/** Parses a number of seconds. An empty text is null. */
export function readSeconds(text: string): { seconds: number | null; fault: string | null } {
  if (text.trim() === "") return { seconds: null, fault: null };
  const seconds = Number(text);
  const isFine = Number.isSafeInteger(seconds) && seconds > 0;
  return isFine ? { seconds, fault: null } : { seconds: null, fault: `${text} is not a whole number of seconds.` };
}
