import { expect, test } from "bun:test";
import { createQueue } from "./queue.ts";

test("a new item is served before items in progress", () => {
  const queue = createQueue<string>();
  queue.requeue("a", "batch");
  queue.arrive("a", "query");
  queue.arrive("a", "other query");
  expect([queue.next(), queue.next(), queue.next(), queue.next()]).toEqual([
    "query",
    "other query",
    "batch",
    undefined,
  ]);
});

test("batches take turns", () => {
  const queue = createQueue<string>();
  queue.requeue("a", "one");
  queue.requeue("a", "two");
  const seen = Array.from({ length: 4 }, () => {
    const next = queue.next()!;
    queue.requeue("a", next);
    return next;
  });
  expect(seen).toEqual(["one", "two", "one", "two"]);
});

test("a burst of queries does not stop a batch", () => {
  const queue = createQueue<string>();
  queue.requeue("a", "batch");
  for (let index = 0; index < 20; index++) queue.arrive("a", `query ${index}`);
  expect(Array.from({ length: 10 }, () => queue.next()).indexOf("batch")).toBe(8);
});

test("a removed item is not served", () => {
  const queue = createQueue<string>();
  queue.arrive("a", "one");
  queue.requeue("a", "two");
  queue.remove("a", "one");
  queue.remove("a", "two");
  queue.remove("a", "three");
  expect(queue.next()).toBeUndefined();
});

test("the owner served last goes after one that has just arrived", () => {
  const queue = createQueue<string>();
  for (let index = 1; index <= 3; index++) queue.arrive("noisy", `noisy ${index}`);
  expect(queue.next()).toBe("noisy 1");
  queue.arrive("quiet", "quiet");
  expect([queue.next(), queue.next()]).toEqual(["quiet", "noisy 2"]);
});

test("an owner that rests is skipped and keeps its items", () => {
  const queue = createQueue<string>();
  queue.arrive("rests", "query");
  queue.requeue("rests", "batch");
  queue.requeue("other", "batch of another");
  const isOpen = (owner: string) => owner !== "rests";
  expect([queue.next(isOpen), queue.next(isOpen), queue.next()]).toEqual(["batch of another", undefined, "query"]);
});

test("queries of one owner do not wait for all queries or batches of another", () => {
  const queue = createQueue<string>();
  for (let index = 1; index <= 3; index++) queue.arrive("noisy", `noisy ${index}`);
  queue.arrive("quiet", "quiet");
  for (let index = 1; index <= 3; index++) queue.requeue("noisy", `noisy batch ${index}`);
  queue.requeue("quiet", "quiet batch");
  const order = Array.from({ length: 8 }, () => queue.next());
  expect(order.slice(0, 4)).toEqual(["noisy 1", "quiet", "noisy 2", "noisy 3"]);
  expect(order.slice(4)).toEqual(["quiet batch", "noisy batch 1", "noisy batch 2", "noisy batch 3"]);
});
