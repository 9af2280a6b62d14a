import type { Database } from "bun:sqlite";
import { wordsTable } from "./tables.ts";
import { indexedWords, oneSpelling, wordText } from "./word-text.ts";

/** How many rows the words of a query may come to: bm25 costs half a microsecond for each. */
const most_rows = 4000;
/** How often bm25 counts a word's weight at most, of a chunk that is hardly more than this word: its k1, and 1. */
const most_times = 2.2;

/** Chunks that have words of a query. */
export interface KeywordHits {
  /**
   * From 0 to 1, for every chunk that has one of the words: its bm25 as a share of what it could be. So it says how much
   * of the question was found, in a store of four chunks as in one of a hundred thousand, whose bm25 is far larger.
   */
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
  const weigh = weights(sqlite, table);
  const most = most_times * (sum(words.map(weigh.word)) + sum(phrases.map(({ phrase }) => weigh.phrase(phrase))));
  return new Map(rows.map(([number, bm25]) => [number, Math.min(1, bm25 / most)]));
}

const sum = (numbers: readonly number[]) => numbers.reduce((sum, number) => sum + number, 0);

/** What terms weigh: their inverse document frequency, as FTS5's bm25 has it. A word that is nowhere weighs the most. */
function weights(sqlite: Database, table: string) {
  const all = chunksIn(sqlite, table);
  const weight = (count: number) => Math.max(least_weight, Math.log((all - count + 0.5) / (count + 0.5)));
  const countOf = (term: string): number => {
    using counting = sqlite.prepare<{ count: number }, [string]>(
      `SELECT count(*) AS count FROM ${table} WHERE ${table} MATCH ?`,
    );
    return counting.get(quoted(term))!.count;
  };
  return {
    word: (word: string): number => weight(countOf(word)),
    /** The words of a phrase that is nowhere weigh already. */
    phrase(phrase: string): number {
      const count = countOf(phrase);
      return count === 0 ? 0 : weight(count);
    },
  };
}

/**
 * How many chunks a table of words has, without reading them all: FTS5 begins its averages record with it, as a varint
 * (https://sqlite.org/fts5.html, and "averages record" in its fts5_index.c).
 */
export function chunksIn(sqlite: Database, table: string): number {
  using statement = sqlite.prepare<{ block: Uint8Array }, []>(`SELECT block FROM ${table}_data WHERE id = 1`);
  let count = 0;
  for (const byte of statement.get()?.block ?? []) {
    count = count * 128 + (byte & 127);
    if (byte < 128) break;
  }
  return count;
}

/** Of a word that at least half of all chunks have. */
const least_weight = 1e-6;

// Words that nearly every English text has. As a query's only words they are kept.
const stopWords = new Set(
  `a about above after again all also am an and any are as at be because been before being between both but by can could
   did do does doing down during each few for from further had has have having he her here hers him his how i if in into
   is it its itself just me more most my no nor not of off on once only or other our out over own please s same she
   should so some such t than that the their them then there these they this those through to too under until up very
   was we were what when where which while who whom why will with would you your yours`.split(/\s+/),
);

const most = { words: 24, phrases: 8 };

/** As FTS5 cuts texts: runs of letters and digits, of whatever script, with the marks upon them. */
const word = /[\p{L}\p{N}\p{Co}\p{M}]+/gu;
/** What stands in quotes, and what is written in one: an identifier, an address, a name with a hyphen. */
const together = /"([^"]+)"|([^\s"]+)/g;

interface Terms {
  /** That say something. */
  words: string[];
  /** Several words that belong together, each with those of its words that say something. */
  phrases: { phrase: string; words: string[] }[];
}

/** What a query asks for. Whatever FTS5 could read out of it besides words is text: nothing but words is left. */
function termsOf(query: string): Terms {
  const text = oneSpelling(query.toWellFormed()).toLowerCase();
  const all = wordsOf(text);
  const telling = all.filter((each) => !stopWords.has(each));
  const words = (telling.length > 0 ? telling : all).slice(0, most.words);
  const phrases = [...text.matchAll(together)]
    .map(([found]) => ({ phrase: (wordText(found).match(word) ?? []).join(" "), words: wordsOf(found) }))
    .filter(({ phrase, words }) => words.length > 1 && words.length <= most.words && !words.includes(phrase))
    .map(({ phrase, words: parts }) => ({ phrase, words: parts.filter((part) => words.includes(part)) }));
  return { words, phrases: phrases.slice(0, most.phrases) };
}

const wordsOf = (text: string) => [...new Set(text.match(word)?.flatMap(indexedWords))];

/** As a term of an FTS5 query. Words hold no quote that could end it. */
const quoted = (words: string): string => `"${words}"`;
