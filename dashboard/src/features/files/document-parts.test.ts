import { expect, test } from "bun:test";
import { pagesOf } from "./document-parts.ts";

const chunk = (chunk_index: number, text: string, page: number | null = null) => ({
  chunk_index,
  text,
  page,
  tokens: 1,
  heading: null,
  boxes: null,
  source: "text" as const,
});
const said = (...texts: string[]) => pagesOf(texts.map((text, i) => chunk(i, text)))[0]!.parts.map((it) => it.newText);

test("the overlap of two chunks is shown once", () => {
  expect(said("One two three four five six.", "three four five six. Seven eight nine ten eleven.")).toEqual([
    "One two three four five six.",
    "Seven eight nine ten eleven.",
  ]);
  expect(said("Nothing of it is repeated.", "Another sentence begins here.")).toEqual([
    "Nothing of it is repeated.",
    "Another sentence begins here.",
  ]);
  const twice = "A sentence that a document says twice.";
  expect(said(twice, twice)).toEqual([twice, twice]);
});

test("chunks are grouped by page, in their order", () => {
  const pages = pagesOf([chunk(0, "a", 1), chunk(1, "b", 1), chunk(2, "c", 2)]);
  expect(pages.map(({ page, parts }) => [page, parts.map((it) => it.chunk.chunk_index)])).toEqual([
    [1, [0, 1]],
    [2, [2]],
  ]);
});
