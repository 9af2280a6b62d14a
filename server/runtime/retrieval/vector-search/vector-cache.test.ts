import type { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { vecLibrary } from "../../../lib/assets.ts";
import { openDatabase } from "../../../storage/db/open.ts";
import { createMemoryStore, searchOrder } from "../../../testing/memory-store.ts";
import { temporaryFolder } from "../../../testing/temporary.ts";
import { Int8Rows } from "./int8-rows.ts";
import { LoadedStores } from "./loaded-stores.ts";
import { createSearch } from "./search.ts";
import { removeChunks } from "./tables.ts";
import { readVectorCache, writeVectorCache } from "./vector-cache.ts";

const tables = { number: 3, generation: 1, dimensions: 8 };
const noise = (seed: number) => ((Math.imul(seed + 1, 2654435761) >>> 8) % 2001) / 1000 - 1;
const vectorOf = (number: number) => Float32Array.from({ length: 8 }, (_, index) => noise(8 * number + index));

function open(folder: ReturnType<typeof temporaryFolder>, name: string) {
  const { sqlite, close } = openDatabase(folder.file(name), { vecLibrary: vecLibrary(folder.path) });
  return { sqlite, [Symbol.dispose]: close };
}

/** Loads a store as after a start, and returns the number of rows taken from its cache. */
function load(sqlite: Database, folder: string | null) {
  const work = new LoadedStores(sqlite, { most_bytes: 2 ** 30, folder }).load(tables);
  for (;;) {
    const { done, value } = work.next();
    if (done) return value!;
  }
}

function nearest(sqlite: Database, folder: string | null, number: number) {
  const work = createSearch(sqlite, { most_bytes: 2 ** 30, folder, ownsConnection: true }).run(
    searchOrder(tables, { vector: vectorOf(number), top_k: 20 }),
  );
  for (;;) {
    const { done, value } = work.next();
    if (done) return value.map(({ text, score }) => [text, score]);
  }
}

const passages = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => ({ text: `text ${from + index}`, vector: vectorOf(from + index) }));

async function keep(sqlite: Database, folder: string, isWanted = () => true): Promise<void> {
  const rows = new Int8Rows(8);
  const all = sqlite
    .query<{ number: number; vector: Uint8Array }, []>(
      "SELECT rowid AS number, embedding AS vector FROM memory_3_vectors_1",
    )
    .all();
  for (const { number, vector } of all) rows.add(number, new Float32Array(vector.slice().buffer));
  const { last } = sqlite
    .query<{ last: number }, []>("SELECT max(chunk_id) AS last FROM memory_3_vectors_1_chunks")
    .get()!;
  await writeVectorCache(folder, tables, { rows, last, isWanted });
}

test("a cached store gives the same results as one read anew, with rows added and removed since", async () => {
  using folder = temporaryFolder();
  const kept = folder.file("vectors");
  using db = open(folder, "whole.db");
  const store = createMemoryStore(db.sqlite, tables);
  const numbers = store.add(passages(0, 500));
  await keep(db.sqlite, kept);
  expect(statSync(folder.file("vectors/3.int8")).mode & 0o777).toBe(0o600);
  store.add(passages(500, 100));
  removeChunks(db.sqlite, tables, numbers.slice(10, 20));
  db.sqlite.run("DELETE FROM memory_chunks WHERE number BETWEEN ? AND ?", [numbers[10]!, numbers[19]!]);
  expect(load(db.sqlite, kept).rows.count).toBe(600); // Read from the file: those that went are noticed when they are found.
  for (const number of [3, 15, 499, 500, 599])
    expect(nearest(db.sqlite, kept, number)).toEqual(nearest(db.sqlite, null, number));
});

test("a cache of another database, of other vectors, or that is incomplete is ignored", async () => {
  using folder = temporaryFolder();
  const kept = folder.file("vectors");
  using db = open(folder, "one.db");
  const store = createMemoryStore(db.sqlite, tables);
  store.add(passages(0, 100));
  db.sqlite.run("VACUUM INTO ?", [folder.file("other.db")]);
  store.add(passages(100, 50));
  await keep(db.sqlite, kept);
  const file = folder.file("vectors/3.int8");
  const whole = readFileSync(file);
  using other = open(folder, "other.db");
  addOthers(other.sqlite);
  for (const bytes of [
    whole,
    whole.subarray(0, -1),
    whole.subarray(0, 20),
    Buffer.alloc(0),
    Buffer.alloc(whole.length),
  ]) {
    writeFileSync(file, bytes);
    expect(nearest(other.sqlite, kept, 320)).toEqual(nearest(other.sqlite, null, 320));
  }
  for (const differs of [{ generation: 2 }, { dimensions: 16 }, { number: 4 }]) {
    const reading = readVectorCache(kept, { ...tables, ...differs }, new Int8Rows(differs.dimensions ?? 8));
    expect(reading.next()).toEqual({ done: true, value: null });
  }
});

/** After the copy, other texts got the chunk numbers of the first database. */
function addOthers(sqlite: Database): void {
  sqlite.run("PRAGMA foreign_keys = OFF");
  sqlite.run("UPDATE memory_entries SET id = 'old_' || id");
  sqlite.run("UPDATE memory_chunks SET entry_id = 'old_' || entry_id");
  sqlite.run("DELETE FROM memory_stores");
  createMemoryStore(sqlite, tables).add(passages(300, 50).map((each) => ({ ...each, text: `other ${each.text}` })));
}

test("no cache is written if a row is removed meanwhile, or the store is no longer wanted", async () => {
  using folder = temporaryFolder();
  const rows = new Int8Rows(8);
  for (let number = 1; number <= 50; number++) rows.add(number, vectorOf(number));
  const keeping = writeVectorCache(folder.path, tables, { rows, last: 1, isWanted: () => true });
  rows.remove(new Set([7]));
  await keeping;
  await writeVectorCache(folder.path, tables, { rows, last: 1, isWanted: () => false });
  expect([existsSync(folder.file("3.int8")), existsSync(folder.file("3.int8.new"))]).toEqual([false, false]);
});
