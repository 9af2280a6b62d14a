import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { chunksIn, findByAllWords, findByWords, findForHybrid } from "./keyword.ts";
import { addWords, removeChunks, wordsTable } from "./tables.ts";

const table = wordsTable(1);

function storeOf(texts: readonly string[]): Database {
  const sqlite = new Database(":memory:", { strict: true });
  sqlite.run("CREATE TABLE memory_chunks (number INTEGER PRIMARY KEY, text TEXT NOT NULL)");
  using insert = sqlite.prepare("INSERT INTO memory_chunks (number, text) VALUES (?, ?)");
  const rows = texts.map((text, index) => ({ number: index + 1, text }));
  sqlite.transaction(() => {
    for (const { number, text } of rows) insert.run(number, text);
    addWords(sqlite, 1, rows);
  })();
  return sqlite;
}

/** Returns the chunks that a query finds, the best first. */
const found = (sqlite: Database, query: string) =>
  [...findByWords(sqlite, 1, query).scores].sort(([, a], [, b]) => b - a).map(([number]) => number);

test("the number of chunks equals the one that FTS5 stores, also after deletes", () => {
  for (const count of [0, 1, 127, 128, 300, 20_000]) {
    using sqlite = storeOf(Array.from({ length: count }, (_, index) => `chunk ${index}`));
    expect(chunksIn(sqlite, table)).toBe(count);
    const first = Array.from({ length: 100 }, (_, index) => index + 1);
    removeChunks(sqlite, { number: 1 }, first);
    expect(chunksIn(sqlite, table)).toBe(Math.max(0, count - 100));
  }
});

test.each([2, 4, 40, 4000])("in a store of %d chunks, a word of one chunk has a similar score", (count) => {
  using sqlite = storeOf(
    Array.from({ length: count }, (_, index) => (index === 0 ? "the zebra sleeps" : `the cow ${index}`)),
  );
  const { scores } = findByWords(sqlite, 1, "zebra");
  expect([...scores.keys()]).toEqual([1]);
  expect(scores.get(1)).toBeWithin(0.3, 0.6);
});

test("a score is the share of the query that was found: lower if a word is missing, never above 1", () => {
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

test.each([
  ["strasse", "Die Straße war leer"],
  ["Straße", "STRASSE"],
  ["Mueller", "Herr Müller"],
  ["Muller", "Herr Müller"],
  ["Müller", "Frau Mueller"],
  ["Muller", "Frau Mueller"],
  ["Mueller", "Mr Muller"],
  ["cafe", "Le café"],
  ["café", "the cafe"],
  ["smorrebrod", "Smørrebrød"],
  ["user by id", "function getUserById()"],
  ["getUserById", "function getUserById()"],
  ["getUserById", "call get_user_by_id here"],
  ["getuserbyid", "function getUserById()"],
  ["get_user_by_id", "function getUserById()"],
  ["javascript", "JavaScript"],
  ["JavaScript", "plain javascript"],
  ["html document", "parseHTMLDocument"],
  ["00417", "article 00417"],
])("%s finds %s", (query, text) => {
  using sqlite = storeOf(["something else", text, "and more of 417"]);
  expect(found(sqlite, query)[0]).toBe(2);
});

const filling = Array.from({ length: 40 }, (_, index) => `about ${index} something else`);
const installed = ["install it: install, install", "who installs", `${filling.join(" ")} its Installation`];

test.each([1, 2])(
  "a word that %d chunks have exactly ranks before its stem, in both keyword and hybrid search",
  (count) => {
    using sqlite = storeOf([...installed, ...(count === 2 ? ["installation"] : []), ...filling]);
    for (const { scores } of [findByWords(sqlite, 1, "installation"), findForHybrid(sqlite, 1, "installation")]) {
      expect(scores.get(3)!).toBeGreaterThan(Math.max(scores.get(1)!, scores.get(2)!));
      expect(scores.get(1)!).toBeGreaterThan(0);
    }
  },
);

test("in hybrid search, a chunk with the only word gains more than half, one with its stem little", () => {
  using sqlite = storeOf([...installed, ...filling]);
  const { scores } = findForHybrid(sqlite, 1, "installation");
  expect([scores.get(3)! > 0.5, scores.get(1)! < 0.1, scores.get(2)! < 0.1]).toEqual([true, true, true]);
});

test.each([
  ["a short word", "cis", ["ci: ci, ci", "the ci of it"]],
  ["a name with digits", "sha256s", ["sha256: sha256, sha256", "by sha256"]],
  [
    "a word whose stem is one of another language",
    "haus",
    ["Häuser: das ist nicht der Plan der Häuser", "Die Häuser sind nicht in der Stadt"],
  ],
])("%s that one chunk has exactly ranks before its stem: %s", (_, word, others) => {
  using sqlite = storeOf([...others, `${filling.join(" ")} ${word}`, ...filling]);
  for (const { scores } of [findByWords(sqlite, 1, word), findForHybrid(sqlite, 1, word)]) {
    expect(scores.get(3)!).toBeGreaterThan(Math.max(scores.get(1)!, scores.get(2)!));
    expect(scores.get(1)!).toBeGreaterThan(0);
  }
});

test("in hybrid search, most words of a question count nearly in full, and few of them hardly", () => {
  using sqlite = storeOf(["amber birch cedar", "amber", ...filling]);
  const share = (chunk: number) =>
    findForHybrid(sqlite, 1, "amber birch cedar dahlia").scores.get(chunk)! /
    findByWords(sqlite, 1, "amber birch cedar dahlia").scores.get(chunk)!;
  expect(share(1)).toBeGreaterThan(0.7);
  expect(share(2)).toBeLessThan(0.2);
});

test("in hybrid search, words count more if some are mistyped, and at most twice", () => {
  using sqlite = storeOf(["the harbour is closed", ...filling]);
  const gain = (query: string) =>
    findForHybrid(sqlite, 1, query).scores.get(1)! / findByWords(sqlite, 1, query).scores.get(1)!;
  expect(gain("harbour closed")).toBeCloseTo(1, 9);
  expect([gain("harbuor closed") > 1.3, gain("harbuor closed") < 1.9]).toEqual([true, true]);
  expect(gain("harbuor closd")).toBeCloseTo(2, 9);
});

test("in a longer question the stem of a rare word counts nearly as much as the word", () => {
  using sqlite = storeOf(["how to install zebras at night", "the installation", "zebras", ...filling]);
  expect(found(sqlite, "installation of zebras at night")[0]).toBe(1);
});

test("a number with leading zeros is another number, and numbers are not corrected", () => {
  using sqlite = storeOf(["00417", "417", "0417"]);
  expect([found(sqlite, "00417"), found(sqlite, "417"), found(sqlite, "418")]).toEqual([[1], [2], []]);
});

test.each([
  ["Der Vertrag wird mit einer Frist zum Ende des Jahres beendet", "Verträge Fristen"],
  ["Die Häuser sind nicht in den alten Straßen der Stadt", "Haus Straße"],
  ["Les contrats sont dans une des maisons et sur la table", "contrat maison"],
  ["Las naciones de los amigos es una de las que no son", "nación amigo"],
  ["Le amiche della casa non sono con il libro di una donna", "amica libri"],
])("words of another language are found by their other forms: %s", (text, query) => {
  using sqlite = storeOf(["The weather is fine", text, "Nothing to be seen here"]);
  for (const word of query.split(" ")) expect(found(sqlite, word)).toEqual([2]);
});

test("a mistyped word finds the intended one, and a known word is taken as written", () => {
  using sqlite = storeOf(["the harbour is closed", "a receipt for the ferry", "from the form of a farm"]);
  for (const wrong of ["harbuor", "habour", "harbouur", "jarbour", "herbour"])
    expect(found(sqlite, wrong)).toEqual([1]);
  expect(found(sqlite, "reciept ferrry")).toEqual([2]);
  expect(found(sqlite, "form")).toEqual([3]);
  expect(found(sqlite, "aeroplane")).toEqual([]);
  const [right, wrong] = ["harbour", "harbuor"].map((word) => findByWords(sqlite, 1, word).scores.get(1)!);
  expect(wrong!).toBeLessThan(right!);
});

test("removed words are no longer used for corrections", () => {
  using sqlite = storeOf(["a harbour and a ferry", "the ferry"]);
  removeChunks(sqlite, { number: 1 }, [1]);
  sqlite.run("DELETE FROM memory_chunks WHERE number = 1");
  expect([found(sqlite, "harbuor"), found(sqlite, "fery")]).toEqual([[], [2]]);
  expect(sqlite.query("SELECT count(*) AS n FROM memory_1_spellings WHERE word <> 'ferry'").get()).toEqual({ n: 0 });
});
