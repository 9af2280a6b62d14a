import { expect, test } from "bun:test";
import { vecLibrary } from "../../../lib/assets.ts";
import { openDatabase } from "../../../storage/db/open.ts";
import { temporaryFolder } from "../../../testing/temporary.ts";
import { bytesOfRows } from "./int8-rows.ts";
import { type LoadedStore, LoadedStores } from "./loaded-stores.ts";
import { addVectors, createStoreTables, type StoreTables } from "./tables.ts";

const [dimensions, count] = [64, 4000];
const tablesOf = (number: number): StoreTables => ({ number, generation: 1, dimensions });

/** Stores of equal size, and memory for a number of them. */
function fixture(stores: number, room: number) {
  using folder = temporaryFolder();
  const db = openDatabase(":memory:", { vecLibrary: vecLibrary(folder.path) });
  let last = 0;
  function add(number: number, count: number): void {
    const vector = new Float32Array(dimensions).fill(number);
    addVectors(
      db.sqlite,
      tablesOf(number),
      Array.from({ length: count }, () => ({ number: ++last, vector })),
    );
  }
  for (let number = 1; number <= stores; number++) {
    createStoreTables(db.sqlite, tablesOf(number));
    add(number, count);
  }
  // A third of a store more, because memory is allocated in pages, and ahead of need.
  const most_bytes = Math.ceil((room + 0.34) * bytesOfRows(count, dimensions));
  const { sqlite } = db;
  return {
    add,
    sqlite,
    loaded: new LoadedStores(sqlite, { most_bytes, folder: null }),
    most_bytes,
    [Symbol.dispose]: () => db.close(),
  };
}

function load(loaded: LoadedStores, number: number): LoadedStore | null {
  const work = loaded.load(tablesOf(number));
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

test("the most recently searched stores stay loaded, as many as fit", () => {
  using on = fixture(4, 2);
  const sizes = [1, 2].map((number) => load(on.loaded, number)!.bytes);
  expect(sizes[0]! + sizes[1]!).toBeLessThanOrEqual(on.most_bytes);
  expect(on.loaded.get(tablesOf(1))).not.toBeNull();
  load(on.loaded, 3);
  const kept = [1, 2, 3].filter((number) => on.loaded.get(tablesOf(number)));
  expect(kept).toEqual([1, 3]);
});

test("a store that cannot fit is not loaded, and evicts none", () => {
  using on = fixture(1, 0.5);
  expect(load(on.loaded, 1)).toBeNull();
  using other = fixture(2, 1);
  load(other.loaded, 1);
  other.add(2, count);
  expect(load(other.loaded, 2)).toBeNull();
  expect(other.loaded.get(tablesOf(1))).not.toBeNull();
});

test("of two stores that load in turns, one is evicted if both do not fit", () => {
  using on = fixture(2, 1);
  const works = [1, 2].map((number) => on.loaded.load(tablesOf(number)));
  for (let over = 0; over < 2; ) over = works.filter((work) => work.next().done).length;
  expect([1, 2].filter((number) => on.loaded.get(tablesOf(number)))).toEqual([2]);
});

test("an abandoned load is continued, and finds vectors added meanwhile", () => {
  using on = fixture(2, 3);
  const given = on.loaded.load(tablesOf(1));
  for (let steps = 0; steps < 3; steps++) given.next();
  on.add(1, 10);
  let steps = 1;
  for (const work = on.loaded.load(tablesOf(1)); !work.next().done; ) steps++;
  expect(steps).toBeLessThan(3);
  expect(on.loaded.get(tablesOf(1))!.rows.count).toBe(count + 10);
  on.loaded.load(tablesOf(2)).next();
  on.loaded.forget(2);
  expect(load(on.loaded, 2)!.rows.count).toBe(count);
});

test("a loaded store that grows evicts older ones", () => {
  using on = fixture(2, 2);
  for (const number of [1, 2]) load(on.loaded, number);
  on.add(2, count);
  expect(on.loaded.get(tablesOf(2))!.refresh()).toBe(true);
  expect(on.loaded.get(tablesOf(2))!.rows.count).toBe(2 * count);
  expect(on.loaded.get(tablesOf(1))).toBeNull();
});

test("about a hundred small stores stay loaded", () => {
  using on = fixture(1, 100);
  for (let number = 2; number <= 140; number++) {
    createStoreTables(on.sqlite, tablesOf(number));
    load(on.loaded, number);
  }
  expect(on.loaded.get(tablesOf(2))).toBeNull();
  expect(on.loaded.get(tablesOf(140))).not.toBeNull();
});
