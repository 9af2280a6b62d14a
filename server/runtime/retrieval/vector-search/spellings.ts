import type { Database } from "bun:sqlite";
import { all, runEach } from "./statements.ts";
import { wordsAsWritten } from "./word-text.ts";

/**
 * Creates the table of a store's words, each under the keys that result from leaving out one letter: a mistyped word
 * and the intended one share such a key. The row of the whole word has the number of chunks.
 */
export const createSpellings = (sqlite: Database, table: string): void =>
  void sqlite.run(`CREATE TABLE IF NOT EXISTS ${table} (key TEXT NOT NULL, word TEXT NOT NULL, uses INTEGER NOT NULL,
    PRIMARY KEY (key, word)) STRICT, WITHOUT ROWID`);

/**
 * Letters only, because numbers that differ in a digit are different numbers; not shorter, because short words resemble
 * too many others.
 */
const spelled = /^[\p{scx=Latin}\p{scx=Greek}\p{scx=Cyrillic}]{4,32}$/u;
/** Only these first letters make keys, because similar words begin alike. */
const keyed_letters = 7;
const most = { candidates: 200, corrections: 4 };

export const isSpelled = (word: string): boolean => spelled.test(word);

/** Counts in how many texts each word occurs. */
function countWords(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) for (const each of spelledIn(text)) counts.set(each, (counts.get(each) ?? 0) + 1);
  return counts;
}

const spelledIn = (text: string): string[] => [...wordsAsWritten(text)].filter(isSpelled);

export function addSpellings(sqlite: Database, table: string, texts: readonly string[]): void {
  const counts = countWords(texts);
  const known = new Set(change(sqlite, table, counts).map(({ word }) => word));
  const newWords = [...counts].filter(([word]) => !known.has(word));
  const rows = newWords.flatMap(([word, uses]) => [
    { key: word, word, uses },
    ...keysOf(word).map((key) => ({ key, word, uses: 0 })),
  ]);
  runEach(sqlite, `INSERT OR IGNORE INTO ${table} (key, word, uses) VALUES ($key, $word, $uses)`, rows);
}

/** Subtracts the words of removed texts, and deletes words that no text has any more. */
export function removeSpellings(sqlite: Database, table: string, texts: readonly string[]): void {
  const counts = new Map([...countWords(texts)].map(([word, count]) => [word, -count]));
  const unusedWords = change(sqlite, table, counts).filter(({ uses }) => uses <= 0);
  const rows = unusedWords.flatMap(({ word }) => [word, ...keysOf(word)].map((key) => ({ key, word })));
  runEach(sqlite, `DELETE FROM ${table} WHERE key = $key AND word = $word`, rows);
}

const change = (sqlite: Database, table: string, counts: ReadonlyMap<string, number>) =>
  all<{ word: string; uses: number }>(
    sqlite,
    `UPDATE ${table} SET uses = uses + given.value FROM json_each(?) given
      WHERE ${table}.key = given.key AND word = given.key RETURNING word, uses`,
    [JSON.stringify(Object.fromEntries(counts))],
  );

function keysOf(word: string): string[] {
  const letters = [...word].slice(0, keyed_letters);
  const keys = letters.map((_, index) => letters.toSpliced(index, 1).join(""));
  return [...new Set([letters.join(""), ...keys])].filter((key) => key !== word);
}

/** Returns the closest words to a mistyped one, the most frequent first. */
export function corrections(sqlite: Database, table: string, mistyped: string): string[] {
  const sql = `SELECT DISTINCT own.word, own.uses FROM ${table} found CROSS JOIN ${table} own
    ON own.key = found.word AND own.word = found.word WHERE found.key IN (SELECT value FROM json_each($keys)) LIMIT $most`;
  const keys = JSON.stringify([mistyped, ...keysOf(mistyped)]);
  const found = all<{ word: string; uses: number }>(sqlite, sql, [{ keys, most: most.candidates }]);
  const near = found.map(({ word, uses }) => ({ word, uses, distance: distance(mistyped, word) }));
  const least = Math.min(mistyped.length < 6 ? 1 : 2, ...near.map(({ distance }) => distance));
  return near
    .filter(({ distance }) => distance <= least)
    .sort((a, b) => b.uses - a.uses)
    .slice(0, most.corrections)
    .map(({ word }) => word);
}

/** Returns the edit distance: letters dropped, added, changed or swapped with the next. */
function distance(a: string, b: string): number {
  const at = (row: readonly number[], column: number) => row[column] ?? Number.POSITIVE_INFINITY;
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let row = 1; row <= a.length; row++) {
    const now = [row];
    for (let column = 1; column <= b.length; column++) {
      const isSame = a[row - 1] === b[column - 1];
      const isExchanged = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      const steps = [at(now, column - 1) + 1, at(last, column) + 1, at(last, column - 1) + (isSame ? 0 : 1)];
      if (isExchanged) steps.push(at(before, column - 2) + 1);
      now.push(Math.min(...steps));
    }
    [before, last] = [last, now];
  }
  return at(last, b.length);
}

/** Returns the number of chunks with a word exactly as written. */
export const usesOf = (sqlite: Database, table: string, word: string): number =>
  all<{ uses: number }>(sqlite, `SELECT uses FROM ${table} WHERE key = $word AND word = $word`, [{ word }])[0]?.uses ??
  0;
