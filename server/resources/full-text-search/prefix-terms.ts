import type { Database } from "bun:sqlite";
import { createYielder } from "../../lib/cooperative-yield.ts";

// Most words that a prefix expands to: each is an index entry to read.
const wordsMost = 1500;

// FTS5 has separate indexes for prefixes of up to this length.
const indexedMost = 3;

/**
 * Returns the indexed words with this prefix; null if FTS5 should match the prefix itself. Other requests are served
 * meanwhile.
 */
export type PrefixTerms = (beginning: string) => Promise<readonly string[] | null>;

/**
 * Expands prefixes into words. For a prefix FTS5 would first list all matching documents; given single words, it reads
 * each from the newest on and stops when a page is full.
 */
export function createPrefixTerms(sqlite: Database): PrefixTerms {
  sqlite.run("CREATE VIRTUAL TABLE IF NOT EXISTS temp.search_vocabulary USING fts5vocab(main, search_words, instance)");
  const selectNext = sqlite.query<{ term: string }, [string]>(
    "SELECT term FROM temp.search_vocabulary WHERE term >= ? LIMIT 1",
  );
  return async (beginning) => {
    const maybeYield = createYielder();
    const own = spelled(beginning);
    if ([...own].length <= indexedMost) return null;
    const words: string[] = [];
    for (let from = own; words.length < wordsMost; ) {
      const term = selectNext.get(from)?.term;
      if (!term?.startsWith(own)) break;
      words.push(term);
      from = `${term}\u0001`; // Skips the other instances of this word.
      await maybeYield();
    }
    // FTS5 handles words that are indexed in another spelling, and words that do not occur.
    return words.length > 0 ? words : null;
  };
}

/** True for a single letter: as a prefix it would match nearly everything, so it is searched as a word. */
export const isLetter = (word: string): boolean => [...spelled(word)].length <= 1;

/** Spelling in the index: lower case, without diacritics on Latin letters. */
export function spelled(word: string): string {
  const small = word.toLowerCase();
  // biome-ignore lint/suspicious/noControlCharactersInRegex: plain ASCII has no marks.
  if (/^[\x00-\x7f]*$/.test(small)) return small;
  return small
    .normalize("NFD")
    .replace(/(\p{Script=Latin})\p{Mn}+/gu, "$1")
    .normalize("NFC");
}
