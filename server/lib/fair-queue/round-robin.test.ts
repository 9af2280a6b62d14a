import { expect, test } from "bun:test";
import { createRoundRobin } from "./round-robin.ts";

test("owners take turns, and each is served in its order", () => {
  const lines = createRoundRobin<string>();
  for (const one of ["a1", "a2", "a3", "b1", "b2", "c1"]) lines.add(one[0]!, one);
  expect(Array.from({ length: 7 }, () => lines.next())).toEqual(["a1", "b1", "c1", "a2", "b2", "a3", undefined]);
});

test("an owner that left is not served, and one that returns queues behind the others", () => {
  const lines = createRoundRobin<string>();
  for (const one of ["a1", "b1"]) lines.add(one[0]!, one);
  expect([lines.remove("a", "a1"), lines.remove("a", "a1"), lines.remove("c", "c1")]).toEqual([true, false, false]);
  lines.add("a", "a2");
  expect([...lines.owners()]).toEqual(["b", "a"]);
  expect([lines.length("a"), lines.next("a"), lines.length("a"), lines.next()]).toEqual([1, "a2", 0, "b1"]);
});
