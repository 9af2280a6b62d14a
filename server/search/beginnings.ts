import type { Database } from "bun:sqlite";
import { inSlices } from "../lib/slices.ts";

// Of a beginning that more words have than this, the first ones count: each is an entry of the index that is read.
const wordsMost = 1500;

// FTS5 has what begins with so many letters in an index of its own.
const indexedMost = 3;

/**
 * Words of the index that begin so, as it writes them; null where it knows them all together. Others are answered while
 * they are looked for.
 */
export type Beginnings = (beginning: string) => Promise<readonly string[] | null>;

/**
 * FTS5 would make a list of all that has one of the words before it gives the newest. Told them one by one it reads each
 * from its newest on, and stops as soon as a page is full.
 */
export function createBeginnings(sqlite: Database): Beginnings {
  sqlite.run("CREATE VIRTUAL TABLE IF NOT EXISTS temp.search_vocabulary USING fts5vocab(main, search_words, instance)");
  const selectNext = sqlite.query<{ term: string }, [string]>(
    "SELECT term FROM temp.search_vocabulary WHERE term >= ? LIMIT 1",
  );
  return async (beginning) => {
    const rest = inSlices();
    const own = spelled(beginning);
    if ([...own].length <= indexedMost) return null;
    const words: string[] = [];
    for (let from = own; words.length < wordsMost; ) {
      const term = selectNext.get(from)?.term;
      if (!term?.startsWith(own)) break;
      words.push(term);
      from = `${term}\u0001`; // Behind all places of this word.
      await rest();
    }
    // What is spelled otherwise than it seems is left to FTS5, and so is a word that is not there.
    return words.length > 0 ? words : null;
  };
}

/** What begins with one letter is nearly everything: it is a word of its own. */
export const isLetter = (word: string): boolean => [...spelled(word)].length <= 1;

/** As the index writes a word: small, and without marks upon Latin letters. */
export function spelled(word: string): string {
  const small = word.toLowerCase();
  // biome-ignore lint/suspicious/noControlCharactersInRegex: plain ASCII has no marks.
  if (/^[\x00-\x7f]*$/.test(small)) return small;
  return small
    .normalize("NFD")
    .replace(/(\p{Script=Latin})\p{Mn}+/gu, "$1")
    .normalize("NFC");
}
