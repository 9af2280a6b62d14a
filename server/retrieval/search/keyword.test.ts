import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { chunksIn, findByAllWords, findByWords } from "./keyword.ts";
import { wordsTable } from "./tables.ts";

const table = wordsTable(1);

function storeOf(texts: readonly string[]): Database {
  const sqlite = new Database(":memory:", { strict: true });
  sqlite.run(`CREATE VIRTUAL TABLE ${table} USING fts5(text, tokenize = 'porter unicode61 remove_diacritics 2')`);
  using insert = sqlite.prepare(`INSERT INTO ${table} (rowid, text) VALUES (?, ?)`);
  sqlite.transaction(() => {
    for (const [index, text] of texts.entries()) insert.run(index + 1, text);
  })();
  return sqlite;
}

test("the number of chunks is the one that FTS5 keeps, also after deletes", () => {
  for (const count of [0, 1, 127, 128, 300, 20_000]) {
    using sqlite = storeOf(Array.from({ length: count }, (_, index) => `chunk ${index}`));
    expect(chunksIn(sqlite, table)).toBe(count);
    sqlite.run(`DELETE FROM ${table} WHERE rowid <= 100`);
    expect(chunksIn(sqlite, table)).toBe(Math.max(0, count - 100));
  }
});

test.each([2, 4, 40, 4000])("in a store of %d chunks, a word of one chunk scores alike", (count) => {
  using sqlite = storeOf(
    Array.from({ length: count }, (_, index) => (index === 0 ? "the zebra sleeps" : `the cow ${index}`)),
  );
  const { scores } = findByWords(sqlite, 1, "zebra");
  expect([...scores.keys()]).toEqual([1]);
  expect(scores.get(1)).toBeWithin(0.3, 0.6);
});

test("a score is the share of what was asked: less when a word is missing, never more than 1", () => {
  using sqlite = storeOf([
    "zebra zebra zebra",
    "zebra crossing",
    "crossing",
    ...Array.from({ length: 50 }, () => "filling text"),
  ]);
  const one = findByWords(sqlite, 1, "zebra").scores;
  const two = findByWords(sqlite, 1, "zebra crossing").scores;
  const absent = findByWords(sqlite, 1, "zebra nowhere").scores;
  expect(two.get(2)!).toBeGreaterThan(two.get(1)!);
  expect(absent.get(2)!).toBeLessThan(one.get(2)! * 0.7);
  for (const scores of [one, two, absent, findByAllWords(sqlite, 1, '"zebra zebra" zebra').scores])
    for (const score of scores.values()) expect(score).toBeWithin(0, 1.000001);
});
