import { expect, test } from "bun:test";
import { markWords } from "./matched-words.ts";

const marked = (text: string, query: string) =>
  markWords(text, query)
    .map(({ text, isMatch }) => (isMatch ? `[${text}]` : text))
    .join("");

test.each([
  ["The Donau\u00addampf\u00adschiff leaves.", "donaudampfschiff", "The [Donau\u00addampf\u00adschiff] leaves."],
  ["قرأ كِتَابًا هنا", "كتابا", "قرأ [كِتَابًا] هنا"],
  ["Ο ΛΟΓΟΣ εδώ", "λόγος", "Ο [ΛΟΓΟΣ] εδώ"],
  ["Straße in München", "strasse munchen", "[Straße] in [München]"],
  ["He applies, they applied.", "apply", "He [applies], they [applied]."],
  ["東京都に住む", "東京", "[東京]都に住む"],
  ["Ｔｏｋｙｏ", "tokyo", "[Ｔｏｋｙｏ]"],
  ["one or two", "three", "one or two"],
  ["a < b", '"', "a < b"],
])("in %j the words of the query %j are marked as they are written", (text, query, expected) => {
  expect(marked(text, query)).toBe(expected);
});
