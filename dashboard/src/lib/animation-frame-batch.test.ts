import { afterEach, beforeEach, expect, test } from "bun:test";
import { batchPerFrame } from "./animation-frame-batch.ts";

// A page whose frames the test triggers.
let frames: Map<number, () => void>;
let page: EventTarget & { hidden: boolean };
const before = { ...globalThis };
beforeEach(() => {
  frames = new Map();
  page = Object.assign(new EventTarget(), { hidden: false });
  Object.assign(globalThis, {
    document: page,
    requestAnimationFrame: (paint: () => void) => {
      frames.set(frames.size + 1, paint);
      return frames.size;
    },
    cancelAnimationFrame: (id: number) => frames.delete(id),
  });
});
afterEach(() => {
  const { document, requestAnimationFrame, cancelAnimationFrame } = before;
  Object.assign(globalThis, { document, requestAnimationFrame, cancelAnimationFrame });
});
const hide = () => {
  page.hidden = true;
  page.dispatchEvent(new Event("visibilitychange"));
};

test("items between two frames are delivered together in the next one", () => {
  const taken: string[][] = [];
  const { push } = batchPerFrame<string>((items) => taken.push(items));
  push("a");
  push("b");
  expect([taken, frames.size]).toEqual([[], 1]);
  frames.get(1)!();
  expect(taken).toEqual([["a", "b"]]);
});

test("a page hidden before its frame delivers its items and continues", async () => {
  const { promise, resolve } = Promise.withResolvers<string[]>();
  const taken: string[][] = [];
  const { push } = batchPerFrame<string>((items) => {
    taken.push(items);
    if (items.includes("b")) resolve(items);
  });
  push("a");
  hide();
  expect([taken, frames.size]).toEqual([[["a"]], 0]);
  push("b");
  expect(await promise).toEqual(["b"]);
});

test("nothing is delivered after stopping", () => {
  const taken: string[][] = [];
  const { push, stop } = batchPerFrame<string>((items) => taken.push(items));
  push("a");
  stop();
  hide();
  expect([taken, frames.size]).toEqual([[], 0]);
});
