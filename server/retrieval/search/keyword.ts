import type { Database } from "bun:sqlite";
import { wordsTable } from "./tables.ts";
import { quoted, type Terms, termsOf } from "./terms.ts";

/** How many rows the words of a query may come to: bm25 costs half a microsecond for each. */
const most_rows = 4000;
/** The bm25 of a chunk that scores a half. */
const half_at = 8;

/** Chunks that have words of a query. */
export interface KeywordHits {
  /** From 0 to 1, for every chunk that has one of the words. */
  scores: ReadonlyMap<number, number>;
  /** Whether words were left out since too many chunks have them. */
  partial: boolean;
}

/** Finds by the words that tell most, as many as come to few chunks. */
export function findByWords(sqlite: Database, storeNumber: number, query: string): KeywordHits {
  const table = wordsTable(storeNumber);
  const { words, phrases } = termsOf(query);
  const telling = rarest(sqlite, table, words);
  // Each is in no more chunks than the rarest of its words.
  const kept = phrases.filter((phrase) => phrase.words.some((each) => telling.includes(each)));
  return {
    scores: scoresOf(sqlite, table, { words: telling, phrases: kept }),
    partial: telling.length < words.length,
  };
}

/** The same by all words, however many chunks have them: tens of milliseconds where a hundred thousand do. */
export function findByAllWords(sqlite: Database, storeNumber: number, query: string): KeywordHits {
  return { scores: scoresOf(sqlite, wordsTable(storeNumber), termsOf(query)), partial: false };
}

function rarest(sqlite: Database, table: string, words: readonly string[]): string[] {
  using counting = sqlite.prepare<{ count: number }, [string]>(
    `SELECT count(*) AS count FROM (SELECT 1 FROM ${table} WHERE ${table} MATCH ? LIMIT ${most_rows + 1})`,
  );
  const counts = words.map((word) => ({ word, count: counting.get(quoted(word))!.count }));
  let rows = 0;
  return counts
    .sort((a, b) => a.count - b.count)
    .filter(({ count }) => {
      rows += count;
      return rows <= most_rows;
    })
    .map(({ word }) => word);
}

function scoresOf(sqlite: Database, table: string, { words, phrases }: Terms): Map<number, number> {
  const terms = [...words, ...phrases.map(({ phrase }) => phrase)].map(quoted);
  if (terms.length === 0) return new Map();
  using statement = sqlite.prepare<unknown, [string]>(
    `SELECT rowid, -bm25(${table}) FROM ${table} WHERE ${table} MATCH ?`,
  );
  const rows = statement.values(terms.join(" OR ")) as [number, number][];
  return new Map(rows.map(([number, bm25]) => [number, bm25 / (bm25 + half_at)]));
}
