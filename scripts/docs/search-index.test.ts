import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { testApp } from "../../server/testing/test-app.ts";
import { referencePages, searchableContentOf } from "./build-docs.ts";
import { writtenPages } from "./pages.ts";
import { type SearchablePage, searchIndexOf } from "./search-index.ts";

/** The script of the pages. */
const finderOf = new Function(`${readFileSync(join(import.meta.dir, "search.js"), "utf8")}; return finderOf;`)() as (
  index: object,
) => (words: readonly string[]) => { path: string }[];

/** Returns the number of occurrences of a word, at most `most`. */
function countOf(word: string, text: string, most: number): number {
  let count = 0;
  for (let at = text.indexOf(word); at !== -1 && count < most; at = text.indexOf(word, at + word.length)) count++;
  return count;
}

/** Searches the texts themselves, as the expected result. */
function finderInTexts(pages: readonly SearchablePage[]) {
  const lower = pages.map(({ path, title, headings, text }) => ({
    path,
    title: title.toLowerCase(),
    headings: headings.join("\n").toLowerCase(),
    text: text.toLowerCase(),
  }));
  return (words: readonly string[]): string[] =>
    lower
      .map(({ path, title, headings, text }) => {
        const scores = words.map(
          (word) => (title.includes(word) ? 20 : 0) + (headings.includes(word) ? 5 : 0) + countOf(word, text, 5) / 2,
        );
        const sum = scores.reduce((all, one) => all + one, 0) + (title === words.join(" ") ? 50 : 0);
        return { path, score: scores.includes(0) ? 0 : sum };
      })
      .filter(({ score }) => score > 0)
      .sort((one, other) => other.score - one.score)
      .map(({ path }) => path);
}

test("a search by its index finds the same as in the texts, in the same order, and loads less than half", async () => {
  await using server = testApp();
  const document = (await server.send("GET", "/docs/openapi.json")).body;
  const pages = searchableContentOf([...writtenPages(), ...referencePages(document)]);
  const index = searchIndexOf(pages);
  const find = finderOf(JSON.parse(index));
  const foundIn = finderInTexts(pages);
  const queries = [
    "run",
    "webhook secret",
    "a",
    "{",
    "idempotency-key",
    "stream",
    "ü",
    "fork step",
    "e e",
    "not there at all",
    "429",
  ];
  queries.push(...pages.map(({ title }) => title.toLowerCase()));
  for (const query of queries) {
    const words = query.split(/\s+/).filter(Boolean);
    expect({ query, found: find(words).map(({ path }) => path) }).toEqual({ query, found: foundIn(words) });
  }
  expect(pages.length).toBeGreaterThan(200);
  expect(index.length).toBeLessThan(JSON.stringify(pages).length / 2);
});
