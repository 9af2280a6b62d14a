import { expect, test } from "bun:test";
import { oneSpelling } from "../retrieval/search/word-text.ts";
import { indexText } from "./query.ts";

// ICU takes ten seconds to put 60,000 of them into their order, and nobody else is served meanwhile.
test.each([
  ["marks", "\u0316\u0301"],
  ["marks of half the width", "\uff9e\u0301"],
])("of %s upon one letter no more than 30 are left", (_, two) => {
  expect(oneSpelling(`a${two.repeat(30_000)} b`).length).toBeLessThanOrEqual("a b".length + 30);
  expect(oneSpelling(`a${two.repeat(15)}b`)).toBe(`a${two.repeat(15)}b`.normalize("NFKC"));
});

test("a text that grows by its spelling is indexed as far as twice its length, and a short one as a whole", () => {
  // Words that are one letter: of twenty thousand letters they make a hundred thousand.
  const squared = Array.from({ length: 20_000 }, (_, at) => String.fromCharCode(0x3300 + (at % 88)));
  expect(indexText(squared.join("")).replaceAll(" ", "").length).toBeLessThanOrEqual(40_100);
  expect(indexText("\ufdfa").replaceAll(" ", "")).toBe("\ufdfa".normalize("NFKC").replaceAll(" ", ""));
});
