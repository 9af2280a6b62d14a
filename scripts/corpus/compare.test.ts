import { expect, test } from "bun:test";
import { compare } from "./compare.ts";

const missing = (reference: string, text: string) => compare(reference, text).missing;

test("a word that the text lacks is missing, as often as it is missing", () => {
  expect(missing("one two two three", "two one")).toEqual(["two", "three"]);
  expect(compare("one two", "one two four five")).toMatchObject({ words: 2, missing: [], extra: 2 });
});

test("order, case, marks of Markdown, ligatures, full width and invisible characters are no loss", () => {
  const text = "| Ofﬁce | ＡＢＣ |\n| --- | --- |\n| **soft\u00adhyphen** | x^2 |";
  expect(missing("ABC OFFICE x2 softhyphen", text)).toEqual([]);
});

test("a word that Markdown escapes is divided, and not missing", () => {
  expect(missing("the max_tokens of it", "the max\\_tokens of it")).toEqual([]);
});

test("words that both divide differently are no loss, if the same letters stand around them", () => {
  const reference = "a long exam- ple of hyphen ation in a column";
  expect(compare(reference, "a long example of hyphenation in a column")).toMatchObject({ missing: [], divided: 4 });
  // "to" stands in "tomato" as well, but not beside these letters.
  expect(missing("we went to market yesterday", "we went market yesterday tomato")).toEqual(["to"]);
});

test("everything is missing in a file that was refused", () => {
  expect(missing("first second", "")).toEqual(["first", "second"]);
});

test("Chinese and Japanese are compared word by word", () => {
  expect(missing("これは日本語の文書です", "これは日本語の文書です")).toEqual([]);
  expect(missing("報告書 北京", "報告書")).toEqual(["北京"]);
});

test("a running header counts once, page numbers not at all, and the same words within pages each time", () => {
  const lines = ["first", "second", "third", "of all", "more", "and more"];
  const page = (fruit: string, number: number) =>
    ["Annual report", ...lines.map((line) => `${fruit} ${line}`), "constant", ...lines, `Page ${number}`].join("\n");
  const reference = [page("apples", 1), page("pears", 2)].join("\f");
  const once = reference.replace("\fAnnual report", "").replaceAll(/Page \d/g, "");
  expect(compare(reference, once, true)).toMatchObject({ missing: [], furniture: 6 });
  // Within pages, the same words are text.
  const { missing: lost } = compare(reference, once.replaceAll("constant", ""), true);
  expect(lost).toEqual(["constant", "constant"]);
});
