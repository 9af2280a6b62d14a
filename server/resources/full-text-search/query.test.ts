import { expect, test } from "bun:test";
import { oneSpelling } from "../../runtime/retrieval/vector-search/word-text.ts";
import { indexText } from "./query.ts";

// ICU takes ten seconds to normalize 60,000 of them, and blocks other requests meanwhile.
test.each([
  ["marks", "\u0316\u0301"],
  ["marks of half the width", "\uff9e\u0301"],
])("of %s on one letter at most 30 are kept", (_, two) => {
  expect(oneSpelling(`a${two.repeat(30_000)} b`).length).toBeLessThanOrEqual("a b".length + 30);
  expect(oneSpelling(`a${two.repeat(15)}b`)).toBe(`a${two.repeat(15)}b`.normalize("NFKC"));
});

test("a text that grows by normalization is indexed up to twice its length, and a short one whole", () => {
  // Words that are one character: twenty thousand characters expand to a hundred thousand.
  const squared = Array.from({ length: 20_000 }, (_, at) => String.fromCharCode(0x3300 + (at % 88)));
  expect(indexText(squared.join("")).replaceAll(" ", "").length).toBeLessThanOrEqual(40_100);
  expect(indexText("\ufdfa").replaceAll(" ", "")).toBe("\ufdfa".normalize("NFKC").replaceAll(" ", ""));
});
