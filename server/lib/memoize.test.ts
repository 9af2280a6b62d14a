import { expect, test } from "bun:test";
import { memoize } from "./memoize.ts";

test("a result is computed once, also one that is undefined", () => {
  const asked: string[] = [];
  const find = memoize((text) => {
    asked.push(text);
    return text === "a" ? 1 : undefined;
  });
  expect([find("a"), find("b"), find("a"), find("b")]).toEqual([1, undefined, 1, undefined]);
  expect(asked).toEqual(["a", "b"]);
});

test("the oldest result is forgotten when there are too many", () => {
  const asked: string[] = [];
  const find = memoize((text) => asked.push(text), 2);
  for (const text of ["a", "b", "c", "c", "a"]) find(text);
  expect(asked).toEqual(["a", "b", "c", "a"]);
});
