import { word } from "../../runtime/retrieval/vector-search/word-text.ts";
import { spelled } from "./prefix-terms.ts";
import type { Words } from "./query.ts";

const length = 24;
// Words of context before the first match.
const before = 4;

/**
 * Returns the excerpt with the most matches, spelled as in the index. FTS5's own `snippet` compares every match of a
 * word with all others: seconds for a text that repeats a word ten thousand times.
 */
export function excerpt(text: string, { each, beginning }: Pick<Words, "each" | "beginning">): string {
  const missingWords = new Set(each.map(spelled));
  let open = beginning === null ? null : spelled(beginning);
  const starts: number[] = [];
  const hits: number[] = [];
  for (const { 0: found, index } of text.matchAll(word)) {
    starts.push(index);
    // Stop after the first match of each word plus the length of an excerpt.
    if (missingWords.size === 0 && open === null) {
      if (starts.length > (hits.at(-1) ?? 0) + length) break;
      continue;
    }
    const own = spelled(found);
    const isQueryWord = missingWords.delete(own);
    const isOpen = open !== null && own.startsWith(open);
    if (isOpen) open = null;
    if (isQueryWord || isOpen) hits.push(starts.length - 1);
  }
  const nearbyHits = (hit: number): number =>
    hits.filter((other) => other >= hit && other < hit + length - before).length;
  const best = hits.reduce((best, hit) => (nearbyHits(hit) > nearbyHits(best) ? hit : best), hits[0] ?? 0);
  const from = best <= before ? 0 : best - before;
  const to = starts[from + length];
  return `${from === 0 ? "" : "…"}${text.slice(from === 0 ? 0 : starts[from], to).trimEnd()}${to === undefined ? "" : "…"}`;
}
