import { afterEach, beforeEach, expect, test } from "bun:test";
import { perFrame } from "./per-frame.ts";

// A page that paints when the test says so.
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

test("what comes between two frames is taken at once, with the next one", () => {
  const taken: string[][] = [];
  const { push } = perFrame<string>((items) => taken.push(items));
  push("a");
  push("b");
  expect([taken, frames.size]).toEqual([[], 1]);
  frames.get(1)!();
  expect(taken).toEqual([["a", "b"]]);
});

test("a page that is hidden before its frame takes what has come, and goes on taking", async () => {
  const { promise, resolve } = Promise.withResolvers<string[]>();
  const taken: string[][] = [];
  const { push } = perFrame<string>((items) => {
    taken.push(items);
    if (items.includes("b")) resolve(items);
  });
  push("a");
  hide();
  expect([taken, frames.size]).toEqual([[["a"]], 0]);
  push("b");
  expect(await promise).toEqual(["b"]);
});

test("what is stopped takes nothing any more", () => {
  const taken: string[][] = [];
  const { push, stop } = perFrame<string>((items) => taken.push(items));
  push("a");
  stop();
  hide();
  expect([taken, frames.size]).toEqual([[], 0]);
});
