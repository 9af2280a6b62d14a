import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { findByWords } from "./keyword.ts";
import { addWords, removeChunks, wordsTable } from "./tables.ts";

function storeOf(texts: readonly string[]): Database {
  const sqlite = new Database(":memory:", { strict: true });
  sqlite.run("CREATE TABLE memory_chunks (number INTEGER PRIMARY KEY, text TEXT NOT NULL)");
  const rows = texts.map((text, index) => ({ number: index + 1, text }));
  for (const { number, text } of rows)
    sqlite.run("INSERT INTO memory_chunks (number, text) VALUES (?, ?)", [number, text]);
  addWords(sqlite, 1, rows);
  return sqlite;
}

/** Spellings of one word, in different scripts. */
const words: [string, string[]][] = [
  ["soft hyphens", ["Donau\u00addampf\u00adschiff", "Donaudampfschiff"]],
  ["zero-width spaces", ["light\u200bhouse", "lighthouse"]],
  ["direction marks", ["Lon\u200edon", "London"]],
  ["word joiners", ["gas\u2060licht", "gaslicht"]],
  ["Arabic vowels", ["كِتَابٌ", "كتاب", "كـــتاب"]],
  ["Arabic hamza", ["إسلام", "اسلام", "أسلام"]],
  ["Arabic endings", ["مدرسة", "مدرسه"]],
  ["Arabic and Persian letters", ["علی", "علي", "على"]],
  ["Persian kaf", ["کتابخانه", "كتابخانه"]],
  ["Persian joiners", ["می\u200cخواهم", "میخواهم"]],
  ["Hebrew points", ["שָׁלוֹם", "שלום"]],
  ["Greek accents", ["λόγος", "λογος", "ΛΟΓΟΣ"]],
  ["polytonic Greek", ["ἀρχή", "αρχή", "αρχη"]],
  ["Cyrillic yo", ["ёлка", "елка"]],
  ["Cyrillic stress", ["за\u0301мок", "замок"]],
  ["full width", ["Ｔｏｋｙｏ", "Tokyo"]],
  ["half width", ["ｶﾞｽ", "ガス"]],
  ["Arabic digits", ["١٢٣", "123", "۱۲۳"]],
  ["presentation forms", ["ﻛﺘﺎﺏ", "كتاب"]],
];

test.each(words)("with %s, a word is found by each of its spellings", (_, spellings) => {
  for (const written of spellings) {
    using sqlite = storeOf([`one ${written} two`, "another text"]);
    for (const typed of spellings)
      expect([typed, [...findByWords(sqlite, 1, typed).scores.keys()]]).toEqual([typed, [1]]);
    removeChunks(sqlite, { number: 1 }, [1, 2]);
    // FTS5 fails here if the removed words were not exactly those that it had.
    sqlite.run(`INSERT INTO ${wordsTable(1)} (${wordsTable(1)}, rank) VALUES ('integrity-check', 0)`);
    sqlite.run("CREATE VIRTUAL TABLE temp.left USING fts5vocab('main', 'memory_1_forms', 'row')");
    expect(sqlite.query("SELECT term FROM temp.left").all()).toEqual([]);
  }
});

test("a word with a joiner is found by its parts", () => {
  using sqlite = storeOf(["می\u200cخواهم"]);
  expect([...findByWords(sqlite, 1, "می خواهم").scores.keys()]).toEqual([1]);
});
