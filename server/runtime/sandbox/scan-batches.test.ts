import { expect, test } from "bun:test";
import { readInBatches } from "./scan-batches.ts";
import type { ScanEnd, ScanOrder } from "./scan-task.ts";

type Batch = Pick<ScanOrder, "pages" | "onPage">;

const done: ScanEnd = { fault: null, why: null, computed_ms: 100 };
const died: ScanEnd = { fault: null, why: { kind: "failed", message: "It died." }, computed_ms: 100 };
const text = (page: number) => [[{ text: `Page ${page}`, box: null }]];
const pagesTo = (count: number) => Array.from({ length: count }, (_, at) => at + 1);
const needOf = (count: number) => ({ scans: pagesTo(count), pages: count });

/** Reads with this many places; a child dies at the pages for which `dies` is true. */
function start(rooms = 0, dies: (page: number) => boolean = () => false, computed_ms = 100) {
  const state = { batches: [] as (readonly number[])[], running: 0, most: 0, rooms, progress: [] as number[], now: 0 };
  const perform = async ({ pages, onPage }: Batch): Promise<ScanEnd> => {
    state.batches.push(pages);
    state.most = Math.max(state.most, ++state.running);
    try {
      for (const page of pages) {
        await Promise.resolve();
        if (dies(page)) return { ...died, computed_ms };
        onPage(page, text(page));
      }
      return { ...done, computed_ms };
    } finally {
      state.running--;
    }
  };
  const options = {
    perform,
    onPages: (count: number) => void state.progress.push(count),
    takeRoom() {
      if (state.rooms === 0) return null;
      state.rooms--;
      return () => void state.rooms++;
    },
    isStopped: () => false,
    clock: () => state.now,
  };
  return { state, options };
}

test("one child after the other reads the pages where there is no more room", async () => {
  const { state, options } = start();
  const scans = await readInBatches(needOf(9), options);
  expect([state.most, state.batches]).toEqual([1, [[1, 2, 3, 4], [5, 6, 7, 8], [9]]]);
  expect(scans).toEqual({ read: new Map(pagesTo(9).map((page) => [page, text(page)])), left: [], lost: [] });
});

test("several children read pages at once while there is room, four at most, and all room is given back", async () => {
  for (const [rooms, most] of [
    [1, 2],
    [2, 3],
    [9, 4],
  ] as const) {
    const { state, options } = start(rooms);
    const scans = await readInBatches(needOf(40), options);
    expect("read" in scans && [...scans.read.keys()].toSorted((a, b) => a - b)).toEqual(pagesTo(40));
    expect([state.most, state.rooms, state.running]).toEqual([most, rooms, 0]);
    expect(state.progress).toEqual(pagesTo(40));
  }
});

test("pages that have text count as done from the start", async () => {
  const { state, options } = start();
  await readInBatches({ scans: [2, 5], pages: 10 }, options);
  expect(state.progress).toEqual([9, 10]);
});

test("a page that ends each child costs only itself", async () => {
  const { state, options } = start(1, (page) => page === 3);
  const scans = await readInBatches(needOf(8), options);
  if (!("read" in scans)) throw new Error("No page was read.");
  expect([[...scans.read.keys()].toSorted(), scans.left, scans.lost]).toEqual([[1, 2, 4, 5, 6, 7, 8], [], [3]]);
  expect(state.batches.flat().filter((page) => page === 3)).toHaveLength(2);
});

test("a child that dies once costs no page", async () => {
  let deaths = 0;
  const { options } = start(0, (page) => page === 2 && deaths++ === 0);
  expect(await readInBatches(needOf(4), options)).toMatchObject({ left: [], lost: [] });
});

test("if no page can be read, the reason is the children's", async () => {
  const { options } = start(1, () => true);
  expect(await readInBatches(needOf(3), options)).toEqual(died);
});

test("a fault of the document ends the reading at once", async () => {
  const fault = { code: "document_unreadable", message: "It is damaged." } as const;
  let children = 0;
  const perform = async () => {
    children++;
    return { ...done, fault };
  };
  expect(await readInBatches(needOf(1), { ...start().options, perform })).toMatchObject({ fault });
  expect(children).toBe(1);
});

test("the first 50 pages are read, and no page after four minutes of processor time", async () => {
  const long = await readInBatches(needOf(60), start(3).options);
  expect(long).toMatchObject({ left: pagesTo(60).slice(50), lost: [] });
  const slow = await readInBatches(needOf(20), start(0, undefined, 121_000).options);
  expect(slow).toMatchObject({ left: pagesTo(20).slice(8), lost: [] });
});

test("time in which other programs have the processors costs no page, up to half an hour", async () => {
  const { state, options } = start();
  const wait = (ms: number) => (batch: Batch) => {
    state.now += ms;
    return options.perform(batch);
  };
  expect(await readInBatches(needOf(20), { ...options, perform: wait(300_000) })).toMatchObject({ left: [] });
  expect(await readInBatches(needOf(20), { ...options, perform: wait(1_000_000) })).toMatchObject({
    left: pagesTo(20).slice(8),
  });
});

test("a stop or an abort ends the reading, and gives the room back", async () => {
  const { state, options } = start(3);
  await readInBatches(needOf(20), { ...options, isStopped: () => true });
  expect(state.batches).toEqual([]);
  const perform = () => Promise.reject(new Error("left"));
  await expect(readInBatches(needOf(20), { ...options, perform })).rejects.toThrow("left");
  expect(state.rooms).toBe(3);
});
