import { expect, test } from "bun:test";
import { createTurns } from "./turns.ts";

test("who has just come goes before who goes on", () => {
  const turns = createTurns<string>();
  turns.goOn("a", "batch");
  turns.arrive("a", "query");
  turns.arrive("a", "other query");
  expect([turns.next(), turns.next(), turns.next(), turns.next()]).toEqual([
    "query",
    "other query",
    "batch",
    undefined,
  ]);
});

test("batches take turns", () => {
  const turns = createTurns<string>();
  turns.goOn("a", "one");
  turns.goOn("a", "two");
  const seen = Array.from({ length: 4 }, () => {
    const next = turns.next()!;
    turns.goOn("a", next);
    return next;
  });
  expect(seen).toEqual(["one", "two", "one", "two"]);
});

test("a rush of queries does not stop a batch", () => {
  const turns = createTurns<string>();
  turns.goOn("a", "batch");
  for (let index = 0; index < 20; index++) turns.arrive("a", `query ${index}`);
  expect(Array.from({ length: 10 }, () => turns.next()).indexOf("batch")).toBe(8);
});

test("who is removed gets no turn", () => {
  const turns = createTurns<string>();
  turns.arrive("a", "one");
  turns.goOn("a", "two");
  turns.remove("a", "one");
  turns.remove("a", "two");
  turns.remove("a", "three");
  expect(turns.next()).toBeUndefined();
});

test("queries of one owner do not wait for all of another's, nor batches", () => {
  const turns = createTurns<string>();
  for (let index = 1; index <= 3; index++) turns.arrive("noisy", `noisy ${index}`);
  turns.arrive("quiet", "quiet");
  for (let index = 1; index <= 3; index++) turns.goOn("noisy", `noisy batch ${index}`);
  turns.goOn("quiet", "quiet batch");
  const order = Array.from({ length: 8 }, () => turns.next());
  expect(order.slice(0, 4)).toEqual(["noisy 1", "quiet", "noisy 2", "noisy 3"]);
  expect(order.slice(4)).toEqual(["noisy batch 1", "quiet batch", "noisy batch 2", "noisy batch 3"]);
});
