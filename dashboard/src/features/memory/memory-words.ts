import type { MemoryMatch as Match, Memory as Store } from "../../../../server/wire/memory.ts";
import { formatCount, joinFacts, plural } from "../../lib/format.ts";
import { isJsonObject, readJson } from "../../lib/json-text.ts";

/** `builtin/all-minilm-l6-v2`, and how many numbers a text becomes. */
export function embeddingWords({ embedding }: Pick<Store, "embedding">): string {
  return embedding ? `${embedding.model} · ${formatCount(embedding.dimensions)} dimensions` : "–";
}

/** How much a store holds. */
export const sizeWords = ({ kind, entries, keys }: Pick<Store, "kind" | "entries" | "keys">): string => {
  return kind === "vector" ? plural(entries ?? 0, "entry") : plural(keys ?? 0, "key");
};

/** Where a passage stands: file, page, heading. */
export function sourceWords({ filename, page, heading, file_id }: Match): string {
  const name = filename ?? (file_id ? "A deleted file" : "Text");
  return joinFacts(name, page !== null && `page ${page}`, heading);
}

const units = [
  [86_400, "day"],
  [3600, "hour"],
  [60, "minute"],
] as const;

/** `90 days`, `2 hours`, `45 seconds`; without an end, `For ever`. */
export function lifetimeWords(seconds: number | null): string {
  if (seconds === null) return "Keep indefinitely";
  const [size, word] = units.find(([size]) => seconds % size === 0) ?? [1, "second"];
  return plural(seconds / size, word);
}

/** What a text says of metadata or a filter; nothing where it is empty. */
export function readObject(text: string): { value: Record<string, unknown> | undefined; fault: string | null } {
  if (text.trim() === "") return { value: undefined, fault: null };
  const { value, fault } = readJson(text);
  if (fault !== null) return { value: undefined, fault };
  return isJsonObject(value) ? { value, fault: null } : { value: undefined, fault: "Expected an object: { … }." };
}

/** Seconds that somebody has typed; empty is none. */
export function readSeconds(text: string): { seconds: number | null; fault: string | null } {
  if (text.trim() === "") return { seconds: null, fault: null };
  const seconds = Number(text);
  const isFine = Number.isSafeInteger(seconds) && seconds > 0;
  return isFine ? { seconds, fault: null } : { seconds: null, fault: `${text} is not a whole number of seconds.` };
}
