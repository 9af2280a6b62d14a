import { expect, test } from "bun:test";
import { searchEntry, vecLibrary } from "../../../lib/assets.ts";
import { silentLog } from "../../../lib/log.ts";
import { startThread, type Thread } from "../../../lib/start-thread.ts";
import { openDatabase } from "../../../storage/db/open.ts";
import { createMemoryStore, searchOrder } from "../../../testing/memory-store.ts";
import { temporaryFolder } from "../../../testing/temporary.ts";
import type { Filter } from "./filter.ts";
import type { FromThread, ToThread } from "./messages.ts";
import { createSearch } from "./search.ts";
import { createSearcher, type Match, type SearchOrder } from "./searcher.ts";
import { addVectors, createStoreTables, removeChunks, type StoreTables, vectorsTable } from "./tables.ts";

/** A database with a searcher and stores: in a file with a thread, or all in memory. */
function fixture({ inFile = false, most_bytes }: { inFile?: boolean; most_bytes?: number } = {}) {
  const folder = temporaryFolder();
  const path = inFile ? folder.file("search.db") : ":memory:";
  const db = openDatabase(path, { vecLibrary: vecLibrary(folder.path) });
  db.sqlite.run("PRAGMA synchronous = OFF");
  const started: Thread<ToThread>[] = [];
  // An uncaught error ends the thread, like an unexpected fault.
  const kill = (thread: Thread<ToThread>) => thread.send({ do: "open", path: folder.file("none.db"), most_bytes: 0 });
  const searcher = createSearcher({
    path: inFile ? path : null,
    sqlite: db.sqlite,
    log: silentLog,
    most_bytes,
    start: (hear, died) => {
      const thread = startThread<ToThread, FromThread>(searchEntry)(hear, died);
      started.push(thread);
      if (on.killNext-- > 0) kill(thread);
      return thread;
    },
  });
  const on = {
    kill,
    killNext: 0,
    sqlite: db.sqlite,
    searcher,
    started,
    store: (number = 1, dimensions = 4) => createMemoryStore(db.sqlite, { number, generation: 1, dimensions }),
    async find(store: { tables: StoreTables }, order: Partial<SearchOrder>, signal?: AbortSignal): Promise<Match[]> {
      return searcher.search(searchOrder(store.tables, order), signal);
    },
    [Symbol.dispose]() {
      searcher.stop();
      db.close();
      folder[Symbol.dispose]();
    },
  };
  return on;
}

const vector = (...values: number[]) => Float32Array.from([...values, 0, 0, 0, 0].slice(0, 4));
const textsOf = (matches: readonly Match[]) => matches.map(({ text }) => text);

/** Pseudo-random numbers from a seed, equal in each run. */
function numbersOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const bell = (next: () => number) => next() + next() + next() + next() - 2;

function clustered(count: number, dimensions: number, next: () => number): Float32Array[] {
  const centres = Array.from({ length: 50 }, () => Float32Array.from({ length: dimensions }, () => bell(next)));
  return Array.from({ length: count }, (_, index) => centres[index % 50]!.map((value) => value + 0.5 * bell(next)));
}

const uniform = (count: number, dimensions: number, next: () => number) =>
  Array.from({ length: count }, () => Float32Array.from({ length: dimensions }, () => next() - 0.5));

function alike(count: number, dimensions: number, next: () => number): Float32Array[] {
  const [one] = uniform(1, dimensions, next);
  return Array.from({ length: count }, () => one!.map((value) => value + 1e-4 * bell(next)));
}

// A loop, because the slowest tests of this file call it two hundred thousand times.
function productOf(one: Float32Array, other: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < one.length; at++) sum += one[at]! * other[at]!;
  return sum;
}

function nearestOf(vectors: readonly Float32Array[], query: Float32Array, most: number): string[] {
  const cosines = vectors.map((vector, index) => {
    const [length, asked] = [productOf(vector, vector), productOf(query, query)].map(Math.sqrt) as [number, number];
    return { text: String(index), cosine: productOf(vector, query) / length / asked };
  });
  return cosines
    .sort((a, b) => b.cosine - a.cosine)
    .slice(0, most)
    .map(({ text }) => text);
}

test.each([
  ["clustered", clustered, 10_000, 128, undefined],
  ["uniform", uniform, 10_000, 128, undefined],
  ["clustered, in a store that is larger than the memory", clustered, 2500, 100, 150_000],
  ["uniform, of few dimensions", uniform, 500, 3, undefined],
  ["nearly the same", alike, 1500, 4, undefined],
  ["nearly the same, in a store that is larger than the memory", alike, 1000, 64, 150_000],
] as const)("of %s vectors exactly the nearest are found", async (_, make, count, dimensions, most_bytes) => {
  using on = fixture({ most_bytes });
  const next = numbersOf(7);
  const store = on.store(1, dimensions);
  const vectors = make(count, dimensions, next);
  store.add(vectors.map((vector, index) => ({ vector, text: String(index) })));
  for (let query = 0; query < 20; query++) {
    const asked = vectors[query * 20]!.map((value) => value + 0.3 * bell(next));
    expect(textsOf(await on.find(store, { vector: asked }))).toEqual(nearestOf(vectors, asked, 10));
  }
});

test.each([1, 15, 17, 4096])("vectors of %d dimensions are compared", async (dimensions) => {
  using on = fixture();
  const store = on.store(1, dimensions);
  const along = new Float32Array(dimensions).fill(1);
  store.add([
    { vector: along.map((value) => -value), text: "opposite" },
    { vector: along, text: "same" },
  ]);
  const found = await on.find(store, { vector: along });
  expect(textsOf(found)).toEqual(["same", "opposite"]);
  expect(found.map(({ score }) => Math.round(score * 1e6) / 1e6)).toEqual([1, 0]);
});

test("equally near passages come in order of insertion, and no more than requested", async () => {
  using on = fixture();
  const store = on.store();
  store.add(Array.from({ length: 300 }, (_, index) => ({ vector: vector(1), text: String(index) })));
  for (const top_k of [1, 10, 50])
    expect(textsOf(await on.find(store, { vector: vector(2), top_k }))).toEqual(
      Array.from({ length: top_k }, (_, index) => String(index)),
    );
});

test("hybrid combines meaning and words, and finds the best of both", async () => {
  using on = fixture();
  const store = on.store();
  store.add([
    { vector: vector(1), text: "near" },
    { vector: vector(0, 1), text: "the zebra" },
    { vector: vector(1, 1), text: "between, a zebra" },
    ...Array.from({ length: 400 }, () => ({ vector: vector(1, 50), text: "filling" })),
  ]);
  const order = { vector: vector(1), query: "zebra", top_k: 50 };
  const found = await on.find(store, { ...order, mode: "hybrid" });
  expect(textsOf(found)).toContain("the zebra");
  for (const { score, score_parts } of found) {
    expect(score).toBeCloseTo((score_parts.vector! + score_parts.keyword!) / 2, 9);
    expect(score).toBeWithin(0, 1.000001);
  }
  const [near] = await on.find(store, { ...order, mode: "vector" });
  expect(near).toMatchObject({ text: "near", score_parts: { vector: 1, keyword: null } });
  const worded = await on.find(store, { ...order, vector: null, mode: "keyword" });
  expect(textsOf(worded)).toEqual(["the zebra", "between, a zebra"]);
  expect(worded[0]!.score).toBe(worded[0]!.score_parts.keyword!);
});

test.each([4, 40])(
  "hybrid ranks the passage with the requested word first, among %d that are nearer by meaning",
  async (count) => {
    using on = fixture();
    const store = on.store();
    store.add([
      { vector: vector(0, 1), text: "code 00417 is in the manual" },
      ...Array.from({ length: count - 1 }, (_, index) => ({
        vector: vector(1, 2),
        text: `note ${index} is not in the manual`,
      })),
    ]);
    const found = await on.find(store, { vector: vector(1), query: "What is 00417?", mode: "hybrid", top_k: 3 });
    expect(textsOf(found)[0]).toBe("code 00417 is in the manual");
  },
);

test("a threshold leaves out lower scores", async () => {
  using on = fixture();
  const store = on.store();
  store.add([
    { vector: vector(1), text: "a" },
    { vector: vector(1, 1), text: "b" },
    { vector: vector(-1), text: "c" },
  ]);
  expect(textsOf(await on.find(store, { vector: vector(1), score_threshold: 0.7 }))).toEqual(["a", "b"]);
});

test("a store never returns passages of another", async () => {
  using on = fixture();
  const [one, two] = [on.store(1), on.store(2)];
  one.add([{ vector: vector(1), text: "one apple" }]);
  two.add([{ vector: vector(1), text: "two apples" }]);
  for (const mode of ["vector", "keyword", "hybrid"] as const) {
    expect(textsOf(await on.find(one, { vector: vector(1), query: "apple", mode }))).toEqual(["one apple"]);
    expect(textsOf(await on.find(two, { vector: vector(1), query: "apple", mode }))).toEqual(["two apples"]);
  }
});

// Filtering only the nearest would leave nothing here, because the match is the farthest.
test.each(["vector", "keyword", "hybrid"] as const)("%s search finds as many as exist, however rare", async (mode) => {
  using on = fixture();
  const store = on.store();
  store.add(
    Array.from({ length: 6000 }, (_, index) => ({
      vector: vector(1, index / 100),
      text: "apple",
      scope_id: index % 2 ? "ann" : "bob",
      metadata: { index, late: index >= 5990 },
      expires_at_ms: index < 3000 ? 100 : null,
    })),
  );
  const find = async (order: Partial<SearchOrder>) => {
    const found = await on.find(store, { vector: vector(1), query: "apple", mode, scope_id: "ann", ...order });
    return found.map(({ metadata }) => metadata.index).sort();
  };
  const late: Filter = { field: "late", is: "$eq", value: true };
  expect(await find({ filter: late })).toEqual([5991, 5993, 5995, 5997, 5999]);
  const some = await find({ filter: { field: "index", is: "$gte", value: 4000 }, top_k: 3, now: 100 });
  expect(some.filter((index) => Number(index) >= 4000 && Number(index) % 2 === 1)).toHaveLength(3);
  expect((await find({ top_k: 50, now: 100 })).filter((index) => Number(index) > 3000)).toHaveLength(50);
  expect(await find({ scope_id: "eve" })).toEqual([]);
  expect(await find({ top_k: 2 })).toEqual([1, 3]);
});

test("deleted entries are not found, whether marked or removed, and neither is a deleted store", async () => {
  using on = fixture();
  const store = on.store();
  const numbers = store.add(Array.from({ length: 200 }, (_, index) => ({ vector: vector(1), text: `apple ${index}` })));
  const find = () => on.find(store, { vector: vector(1), query: "apple", mode: "hybrid", top_k: 1 });
  expect(textsOf(await find())).toEqual(["apple 0"]);
  for (const number of numbers.slice(0, 100)) store.markDeleted(number);
  expect(textsOf(await find())).toEqual(["apple 100"]);
  removeChunks(on.sqlite, store.tables, numbers.slice(0, 150));
  on.sqlite.run("DELETE FROM memory_chunks WHERE number <= ?", [numbers[149]!]);
  expect(textsOf(await find())).toEqual(["apple 150"]);
  on.sqlite.run("UPDATE memory_stores SET deleted_at_ms = 1");
  expect(await find()).toEqual([]);
});

test("an entry deleted during a keyword search is not found", () => {
  using on = fixture();
  const store = on.store();
  const numbers = store.add(
    Array.from({ length: 3000 }, (_, index) => ({ vector: vector(1), text: "apple", metadata: { index } })),
  );
  const filter: Filter = { field: "index", is: "$in", values: [0, 2900] };
  const order = searchOrder(store.tables, { query: "apple", mode: "keyword", filter });
  const work = createSearch(on.sqlite, { most_bytes: 0, folder: null, ownsConnection: true }).run(order);
  expect(work.next()).toEqual({ done: false, value: undefined });
  store.markDeleted(numbers[0]!);
  let end = work.next();
  while (!end.done) end = work.next();
  expect(end.value.map(({ metadata }) => metadata.index)).toEqual([2900]);
});

test.each(["processing", "failed"])("an entry that is %s is not found before it is ready", async (status) => {
  using on = fixture();
  const store = on.store();
  store.add(Array.from({ length: 300 }, (_, index) => ({ vector: vector(1, index), text: `apple ${index}` })));
  const set = (status: string) =>
    on.sqlite.run("UPDATE memory_entries SET status = ? WHERE text = 'apple 0'", [status]);
  const find = (mode: SearchOrder["mode"]) => on.find(store, { vector: vector(1), query: "apple 0", mode, top_k: 1 });
  for (const mode of ["vector", "keyword", "hybrid"] as const) {
    set(status);
    expect(textsOf(await find(mode))).not.toContain("apple 0");
    set("ready");
    expect(textsOf(await find(mode))).toEqual(["apple 0"]);
  }
});

// A long document gets its chunk numbers before its vectors; a short one may overtake it.
test("a vector that is added late is found, whatever its chunk number", async () => {
  using on = fixture();
  const store = on.store();
  const [late] = store.add([{ vector: vector(1), text: "late" }]);
  on.sqlite.run("DELETE FROM memory_1_vectors_1");
  store.add(Array.from({ length: 40 }, () => ({ vector: vector(0, 1), text: "soon" })));
  expect((await on.find(store, { vector: vector(1) })).map(({ text }) => text)).not.toContain("late");
  addVectors(on.sqlite, store.tables, [{ number: late!, vector: vector(1) }]);
  expect(textsOf(await on.find(store, { vector: vector(1), top_k: 1 }))).toEqual(["late"]);
});

test("a new generation of vectors is searched at once, and the previous one is refused", async () => {
  using on = fixture();
  const store = on.store();
  const [number] = store.add([{ vector: vector(1), text: "a" }]);
  await on.find(store, { vector: vector(1) });
  const next = { number: 1, generation: 2, dimensions: 2 };
  createStoreTables(on.sqlite, next);
  addVectors(on.sqlite, next, [{ number: number!, vector: Float32Array.of(1, 1) }]);
  on.sqlite.run("UPDATE memory_stores SET generation = 2, dimensions = 2");
  on.sqlite.run(`DELETE FROM ${vectorsTable(store.tables)}`);
  for (const mode of ["vector", "hybrid"] as const)
    await expect(on.find(store, { vector: vector(1), mode })).rejects.toThrow("were replaced");
  expect(await on.find(store, { query: "a", mode: "keyword" })).toHaveLength(1);
  const [match] = await on.find({ tables: next }, { vector: Float32Array.of(1, 0) });
  expect(match!.score).toBeCloseTo(Math.SQRT1_2, 6);
});

test.each([
  '"',
  'a" OR text:b',
  "NEAR(apple pear)",
  "apple*",
  "^apple",
  "apple AND NOT pear",
  "col:apple",
  "{apple}",
  "-apple",
  "\0apple\0",
  "(((",
  "",
  "  ",
  "💥",
  "\ud800apple",
  "'; DROP TABLE memory_chunks; --",
])("the query %j is text", async (query) => {
  using on = fixture();
  const store = on.store();
  store.add([{ vector: vector(1), text: "apple" }]);
  const asked = /apple/.test(query);
  expect(textsOf(await on.find(store, { query, mode: "keyword" }))).toEqual(asked ? ["apple"] : []);
});

test.each([
  ["Müller", "muller"],
  ["naïve Ansätze", "NAIVE ansatz*"],
  ["проверка связи", "СВЯЗИ"],
  ["हिन्दी भाषा", "हिन्दी"],
  ["全文 検索", "検索"],
  ["我们的退款政策是三十天之内", "退款政策"],
  ["請於三十天內退款", "多少天可以退款？"],
  ["Bunの全文検索エンジン", "エンジン"],
  ["Bunの全文検索エンジン", "bun"],
  ["ｶﾞﾗｽの扉", "ガラス"],
  ["한국어를 검색합니다", "검색"],
  ["an eﬃcient engine", "efficient"],
  ["it failed with ERR_CONN_RESET", "ERR_CONN_RESET"],
  ["running tests", "test run"],
  ["to be or not to be", "to be"],
  ["a", 'the "a"'],
])("%j is found by %j", async (text, query) => {
  using on = fixture();
  const store = on.store();
  store.add([
    { vector: vector(1), text: "something else" },
    { vector: vector(1), text },
  ]);
  expect(textsOf(await on.find(store, { query, mode: "keyword" }))).toEqual([text]);
});

test("in scripts without spaces, adjacent letters count as words", async () => {
  using on = fixture();
  const store = on.store();
  const add = (text: string) => store.add([{ vector: vector(1), text }]);
  for (const text of ["東京の京都", "京東で会う", "東へ京へ", "東京都"]) add(text);
  const found = await on.find(store, { query: "東京都", mode: "keyword" });
  expect(textsOf(found)).toEqual(["東京都", "東京の京都"]);
});

test("adjacent words of a query score higher, and keyword search alone also finds common words", async () => {
  using on = fixture();
  const store = on.store();
  store.add([
    { vector: vector(1), text: "the blue line and the sky" },
    { vector: vector(1), text: "the line and the blue sky" },
    ...Array.from({ length: 4500 }, () => ({ vector: vector(1), text: "common words" })),
  ]);
  expect(textsOf(await on.find(store, { query: 'our "blue sky"', mode: "keyword", top_k: 1 }))).toEqual([
    "the line and the blue sky",
  ]);
  expect(await on.find(store, { query: "blue common", mode: "keyword", top_k: 10 })).toHaveLength(10);
});

test("a query with an unusable vector is refused", async () => {
  using on = fixture();
  const store = on.store();
  await expect(on.find(store, { vector: null })).rejects.toThrow("4 dimensions");
  await expect(on.find(store, { vector: Float32Array.of(1) })).rejects.toThrow("4 dimensions");
  await expect(on.find(store, { vector: vector(Number.NaN) })).rejects.toThrow("not finite");
});

test("a search in the thread sees data committed just before", async () => {
  using on = fixture({ inFile: true });
  const store = on.store();
  for (let index = 0; index < 40; index++) {
    store.add([{ vector: vector(1, index), text: String(index) }]);
    expect(textsOf(await on.find(store, { vector: vector(1, index), top_k: 1 }))).toEqual([String(index)]);
  }
});

test("concurrent searches of several stores each get their own results", async () => {
  using on = fixture({ inFile: true, most_bytes: 300_000 }); // Room for some of them: the others take queue.
  const stores = [1, 2, 3, 4, 5].map((number) => on.store(number, 64));
  const next = numbersOf(3);
  for (const store of stores)
    store.add(uniform(1500, 64, next).map((vector) => ({ vector, text: String(store.tables.number) })));
  const asked = Array.from({ length: 40 }, (_, index) => stores[index % 5]!);
  const [query] = uniform(1, 64, next);
  const found = await Promise.all(asked.map((store) => on.find(store, { vector: query!, top_k: 5 })));
  expect(found.map((matches) => [...new Set(textsOf(matches))])).toEqual(
    asked.map(({ tables }) => [String(tables.number)]),
  );
});

test("an aborted search rejects at once, and the next one is answered", async () => {
  using on = fixture({ inFile: true });
  const store = on.store();
  store.add([{ vector: vector(1), text: "a" }]);
  const abort = new AbortController();
  const given = on.find(store, { vector: vector(1) }, abort.signal);
  abort.abort(new Error("enough"));
  await expect(given).rejects.toThrow("enough");
  await expect(on.find(store, { vector: vector(1) }, abort.signal)).rejects.toThrow("enough");
  expect(await on.find(store, { vector: vector(1) })).toHaveLength(1);
});

test("a thread that dies is replaced, and its searches are repeated once", async () => {
  using on = fixture({ inFile: true });
  const store = on.store();
  store.add([{ vector: vector(1), text: "a" }]);
  const find = () => on.find(store, { vector: vector(1) });
  await find();
  on.kill(on.started[0]!);
  expect(textsOf(await find())).toEqual(["a"]);
  expect(on.started).toHaveLength(2);
  on.kill(on.started[1]!);
  on.killNext = 1;
  await expect(Promise.all([find(), find()])).rejects.toThrow("The search thread died: ");
  expect(on.started).toHaveLength(3);
  expect(textsOf(await find())).toEqual(["a"]);
});

test("an error of one search does not affect others", async () => {
  using on = fixture({ inFile: true });
  const store = on.store();
  store.add([{ vector: vector(1), text: "a" }]);
  const missing = { tables: { ...store.tables, generation: 9 } };
  await expect(on.find(missing, { vector: vector(1) })).rejects.toThrow("no such table");
  expect(await on.find(store, { vector: vector(1) })).toHaveLength(1);
  expect(on.started).toHaveLength(1);
});

test("stopping the searcher rejects all waiting searches", async () => {
  using on = fixture({ inFile: true });
  const waiting = on.find(on.store(), { vector: vector(1) });
  on.searcher.stop();
  await expect(waiting).rejects.toThrow("The server is stopping.");
  await expect(on.find({ tables: { number: 1, generation: 1, dimensions: 4 } }, {})).rejects.toThrow(
    "The server is stopping.",
  );
});
