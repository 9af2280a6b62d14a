import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { vecLibrary } from "../../../lib/assets.ts";
import { copyDatabase } from "../../../storage/db/copy.ts";
import { openDatabase } from "../../../storage/db/open.ts";
import { createMemoryStore } from "../../../testing/memory-store.ts";
import { temporaryFolder } from "../../../testing/temporary.ts";
import { cosinesOf, readPieces } from "./stored-vectors.ts";
import { addVectors, addWords, createStoreTables, dropStoreTables, dropVectors, removeChunks } from "./tables.ts";

const tables = { number: 7, generation: 1, dimensions: 4 };
const vector = (...values: number[]) => Float32Array.from([...values, 0, 0, 0, 0].slice(0, 4));

function open(path = ":memory:") {
  using folder = temporaryFolder();
  const db = openDatabase(path, { vecLibrary: vecLibrary(folder.path) });
  return { ...db, [Symbol.dispose]: () => db.close() };
}

const numbersIn = (sqlite: Database) =>
  readPieces(sqlite, tables, 0, 100).flatMap(({ vectors }) => vectors.map(({ number }) => number));
const withWord = (sqlite: Database, word: string) =>
  sqlite
    .query<{ rowid: number }, [string]>("SELECT rowid FROM memory_7_forms WHERE memory_7_forms MATCH ?")
    .all(word)
    .map(({ rowid }) => rowid);

test.each([
  ["too short", Float32Array.of(1, 2, 3)],
  ["too long", Float32Array.of(1, 2, 3, 4, 5)],
  ["not a number", vector(1, Number.NaN)],
  ["infinite", vector(Number.POSITIVE_INFINITY)],
  ["too large to be measured", vector(Number.NEGATIVE_INFINITY, 1)],
  ["zero", vector(0)],
  ["as good as zero", vector(1e-40)],
])("if one vector is %s, none is added", (_, bad) => {
  using db = open();
  createStoreTables(db.sqlite, tables);
  const rows = [
    { number: 1, vector: vector(1) },
    { number: 2, vector: bad },
  ];
  expect(() => addVectors(db.sqlite, tables, rows)).toThrow(RangeError);
  expect(numbersIn(db.sqlite)).toEqual([]);
});

test("removed chunks are gone from words and vectors, and removing unknown ones is harmless", () => {
  using db = open();
  const store = createMemoryStore(db.sqlite, tables);
  const numbers = store.add([
    { vector: vector(1), text: "red apples" },
    { vector: vector(0, 1), text: "green apples" },
  ]);
  db.sqlite.run(`INSERT INTO memory_chunks (project_id, environment, entry_id, store, chunk_index, text, tokens)
    VALUES ('proj_search', 'live', 'ment_x', 7, 0, 'blue apples', 1)`);
  removeChunks(db.sqlite, tables, [numbers[0]!, numbers[0]!, 3, 99]);
  expect(numbersIn(db.sqlite)).toEqual([numbers[1]!]);
  expect(withWord(db.sqlite, "apple")).toEqual([numbers[1]!]);
  expect(withWord(db.sqlite, "red")).toEqual([]);
  db.sqlite.run("DELETE FROM memory_chunks WHERE number <> ?", [numbers[1]!]);
  db.sqlite.run("INSERT INTO memory_7_forms (memory_7_forms) VALUES ('integrity-check')");
});

test("words of a text indexed by letters are removed as they were added", () => {
  using db = open();
  const store = createMemoryStore(db.sqlite, tables);
  const [number] = store.add([{ vector: vector(1), text: "Bunの検索ｶﾞﾗｽ, eﬃcient" }]);
  expect(withWord(db.sqlite, '"検 索"')).toEqual([number!]);
  removeChunks(db.sqlite, tables, [number!]);
  db.sqlite.run("CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab('main', 'memory_7_forms', 'row')");
  expect(db.sqlite.query("SELECT term FROM vocabulary").all()).toEqual([]);
});

test("words are added once, even if a batch is repeated", () => {
  using db = open();
  const store = createMemoryStore(db.sqlite, tables);
  const [number] = store.add([{ vector: vector(1), text: "apples" }]);
  addWords(db.sqlite, 7, [{ number: number!, text: "apples" }]);
  removeChunks(db.sqlite, tables, [number!]);
  expect(withWord(db.sqlite, "apples")).toEqual([]);
});

test("table names accept whole numbers only", () => {
  using db = open();
  const hostile = { ...tables, number: "1; DROP TABLE memory_chunks" as unknown as number };
  expect(() => createStoreTables(db.sqlite, hostile)).toThrow(RangeError);
  expect(() => createStoreTables(db.sqlite, { ...tables, generation: 1.5 })).toThrow(RangeError);
});

test("dropping a store's tables leaves other stores alone", () => {
  using db = open();
  const store = createMemoryStore(db.sqlite, tables);
  createStoreTables(db.sqlite, { ...tables, generation: 2 });
  createStoreTables(db.sqlite, { ...tables, number: 70 });
  store.add(Array.from({ length: 1000 }, (_, index) => ({ vector: vector(1, index), text: `word${index}` })));
  store.close();
  dropVectors(db.sqlite, { number: 7, generation: 2 });
  dropStoreTables(db.sqlite, tables);
  dropStoreTables(db.sqlite, tables);
  const left = db.sqlite.query<{ name: string }, []>(
    "SELECT name FROM sqlite_schema WHERE name LIKE 'memory%' AND sql LIKE 'CREATE VIRTUAL%'",
  );
  expect(left.all().map(({ name }) => name)).toEqual(["memory_70_forms", "memory_70_vectors_1"]);
});

// Backups are made by the CLI, which has no vec0. Copies leave holes out, and vec0 finds vectors by row.
test("a copy made without vec0 has every vector and word, also after pieces were deleted", () => {
  using folder = temporaryFolder();
  using db = open(folder.file("whole.db"));
  const store = createMemoryStore(db.sqlite, tables);
  const numbers = store.add(
    Array.from({ length: 100 }, (_, index) => ({ vector: vector(1, index), text: `word${index}` })),
  );
  removeChunks(db.sqlite, tables, numbers.slice(0, 40));
  const last = numbers.at(-1)!;
  const before = cosinesOf(db.sqlite, tables, [last], vector(1));
  db.sqlite.run("DELETE FROM memory_chunks WHERE number <= ?", [numbers[39]!]);
  db.sqlite.run("DELETE FROM memory_entries"); // Whose owner is no project here.
  db.sqlite.run("DELETE FROM memory_chunks WHERE entry_id <> 'ment_7_100'");
  db.sqlite.run("PRAGMA foreign_keys = OFF");
  const plain = new Database(folder.file("whole.db"), { readonly: true, strict: true });
  plain.run("VACUUM INTO ?", [folder.file("copy.db")]);
  expect(plain.query("PRAGMA integrity_check").all()).toEqual([{ integrity_check: "ok" }]);
  plain.close();
  using copy = open(folder.file("copy.db"));
  expect(numbersIn(copy.sqlite)).toEqual(numbers.slice(40));
  expect(cosinesOf(copy.sqlite, tables, [last], vector(1))).toEqual(before);
  const own = copy.sqlite.query<{ embedding: Uint8Array }, [number]>(
    "SELECT embedding FROM memory_7_vectors_1 WHERE rowid = ?",
  );
  expect([...new Float32Array(own.get(last)!.embedding.slice().buffer)]).toEqual([1, 99, 0, 0]);
  expect(withWord(copy.sqlite, "word99")).toEqual([last]);
});

test("a backup accepts a database with such tables as intact", () => {
  using folder = temporaryFolder();
  using db = open(folder.file("whole.db"));
  createStoreTables(db.sqlite, tables);
  addVectors(db.sqlite, tables, [{ number: 1, vector: vector(1) }]);
  copyDatabase(db.sqlite, folder.file("backup.db"));
  using copy = open(folder.file("backup.db"));
  expect(numbersIn(copy.sqlite)).toEqual([1]);
});
