import { expect, test } from "bun:test";
import { readCells } from "./cluster-plan.ts";

test("cells are read in their order, each once, however many there are", () => {
  expect(readCells("main")).toEqual(["main"]);
  expect(readCells(" main, east ,main,a-1 ")).toEqual(["main", "east", "a-1"]);
  const many = Array.from({ length: 1000 }, (_, n) => `cell-${n}`);
  expect(readCells(many.join(","))).toEqual(many as [string, ...string[]]);
  expect(readCells("x".repeat(63))).toHaveLength(1);
});

test.each([
  "",
  ",",
  "main,",
  ",main",
  "main,,east",
  "Main",
  "-a",
  "a b",
  "ümlaut",
  "a\u0301",
  "a/b",
  "../a",
  "a\nb",
  "x".repeat(64),
  "a'b",
  "主",
])("%j is refused in one line that says what a name may be", (text) => {
  expect(() => readCells(text)).toThrow(/^--cell takes small letters, digits and hyphens, not [^\n]*$/);
});
