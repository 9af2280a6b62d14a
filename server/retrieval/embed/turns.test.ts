import { expect, test } from "bun:test";
import { createTurns } from "./turns.ts";

test("who has just come goes before who goes on", () => {
  const turns = createTurns<string>();
  turns.goOn("batch");
  turns.arrive("query");
  turns.arrive("other query");
  expect([turns.next(), turns.next(), turns.next(), turns.next()]).toEqual([
    "query",
    "other query",
    "batch",
    undefined,
  ]);
});

test("batches take turns", () => {
  const turns = createTurns<string>();
  turns.goOn("one");
  turns.goOn("two");
  const seen = Array.from({ length: 4 }, () => {
    const next = turns.next()!;
    turns.goOn(next);
    return next;
  });
  expect(seen).toEqual(["one", "two", "one", "two"]);
});

test("a rush of queries does not stop a batch", () => {
  const turns = createTurns<string>();
  turns.goOn("batch");
  for (let index = 0; index < 20; index++) turns.arrive(`query ${index}`);
  expect(Array.from({ length: 10 }, () => turns.next()).indexOf("batch")).toBe(8);
});

test("who is removed gets no turn", () => {
  const turns = createTurns<string>();
  turns.arrive("one");
  turns.goOn("two");
  turns.remove("one");
  turns.remove("two");
  turns.remove("three");
  expect(turns.next()).toBeUndefined();
});
