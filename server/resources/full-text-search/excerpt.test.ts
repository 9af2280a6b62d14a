import { expect, test } from "bun:test";
import { excerpt } from "./excerpt.ts";

const many = (word: string, count: number): string =>
  Array.from({ length: count }, (_, at) => `${word}${at}`).join(" ");
const shown = (text: string, each: string[], beginning: string | null = null) => excerpt(text, { each, beginning });

test("an excerpt begins shortly before the query's words, and marks omissions", () => {
  const text = `${many("a", 40)} Crème brûlée, ${many("b", 40)}`;
  expect(shown(text, ["creme", "brulee"])).toBe(`…a36 a37 a38 a39 Crème brûlée, ${many("b", 18)}…`);
});

test("the excerpt shows the place with most of the words together", () => {
  const text = `Green ${many("a", 40)} umbrella green ${many("b", 40)} umbrellas`;
  expect(shown(text, ["green"], "umbr")).toBe(`Green ${many("a", 23)}…`);
  const together = `umbrella ${many("a", 40)} green is the word, and green umbrella`;
  expect(shown(together, ["green", "word"])).toContain("green is the word");
});

test("a short text is shown whole, and one without the words from its beginning", () => {
  expect(shown("Where is it?", ["it"])).toBe("Where is it?");
  expect(shown("Where is it?", ["gone"])).toBe("Where is it?");
  expect(shown("", ["gone"])).toBe("");
});
