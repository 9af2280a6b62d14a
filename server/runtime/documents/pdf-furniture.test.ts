import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { removeFurniture } from "./pdf-furniture.ts";
import type { PdfLine } from "./pdf-lines.ts";

const line = (text: string, size = 10): PdfLine => ({
  text,
  parts: text.split(/ {2,}/),
  cells: [],
  size,
  hasGapAbove: false,
  box: null,
});
const page = (...texts: string[]): PdfLine[] => texts.map((text) => line(text));
const isTitle = ({ size }: PdfLine) => size > 10;
const left = (pages: PdfLine[][]) => removeFurniture(pages, isTitle).map((lines) => lines.map(({ text }) => text));
const all = (pages: PdfLine[][]) => pages.map((lines) => lines.map(({ text }) => text));

describe("page numbers are removed", () => {
  test.each<[string, string[]]>([
    ["alone", ["1", "2", "3"]],
    ["Roman", ["i", "ii", "iii"]],
    ["after a cover", ["4", "5", "6"]],
    ["between dashes", ["- 7 -", "- 8 -", "- 9 -"]],
    ["with a word", ["Page 1", "Page 2", "Page 3"]],
    ["with how many there are, in any language", ["Lehekülg 1 / 3", "Lehekülg 2 / 3", "Lehekülg 3 / 3"]],
    ["in Chinese", ["第1页", "第2页", "第3页"]],
  ])("%s", (_, [first, second, third]) => {
    const pages = [page("One text.", first!), page("Second text.", second!), page("Third text.", third!)];
    expect(left(pages)).toEqual([["One text."], ["Second text."], ["Third text."]]);
    expect(left([page(first!, "One."), page(second!, "Two."), page(third!, "Three.")])[2]).toEqual(["Three."]);
  });

  test("also with two pages, but not if the page has another lone number", () => {
    expect(left([page("Alone.", "1"), page("Other.", "2")])).toEqual([["Alone."], ["Other."]]);
    const lists = [page("1", "2", "3"), page("4", "5", "6"), page("7", "8", "9")];
    expect(left(lists)).toEqual(all(lists));
  });
});

test("a running head is kept once, where it first occurs, whatever page number is beside it", () => {
  const pages = ["a", "b", "c", "d"].map((name, at) => page(`Manual  ${at + 7}`, "Acme", `${name} text`, `${at + 7}`));
  expect(left(pages)).toEqual([["Manual  7", "Acme", "a text"], ["b text"], ["c text"], ["d text"]]);
  const drawnFirst = ["a", "b", "c"].map((name, at) => page("Manual", `Page ${at + 1}`, `${name} text`));
  expect(left(drawnFirst)).toEqual([["Manual", "a text"], ["b text"], ["c text"]]);
  const titled = ["a", "b", "c"].map((text) => [line("Acme Inc.", 20), line(`${text} text`)]);
  expect(left(titled)).toEqual([["Acme Inc.", "a text"], ["b text"], ["c text"]]);
  const running = ["b", "c", "d"].map((text) => page("Handbook", `${text} text`));
  const cover = [line("Handbook", 20), line("a text")];
  expect(left([cover, ...running])).toEqual([["Handbook", "a text"], ["b text"], ["c text"], ["d text"]]);
});

describe("text is kept", () => {
  test("if it occurs once or twice, in the middle of pages, or is the title of some pages", () => {
    const twice = [page("Agenda", "a"), page("Agenda", "b"), page("c"), page("42")];
    expect(left(twice)).toEqual(all(twice));
    const middle = ["abc", "def", "ghi"].map((text) => page(`${text}1x`, `${text}2x`, "same", `${text}y`, `${text}z`));
    expect(left(middle)).toEqual(all(middle));
    const titled = ["a", "b", "c", "d", "e", "f", "g"].map((text, at) => [
      line(at < 3 ? "Notes" : text, 20),
      line(`${text} text`),
    ]);
    expect(left(titled)).toEqual(all(titled));
  });

  test.each<[string, (at: number) => PdfLine[]]>([
    [
      "headings that count as the pages do",
      (at) => page(`Clause ${at + 1}`, `Text ${"abcdef"[at]}.`, `${"abcdef"[at]}.`),
    ],
    ["titles of slides that count as they do", (at) => [line(`Slide ${at + 1}`, 24), line(`Point ${"abcdef"[at]}`)]],
    ["large numbers", (at) => [line(String(at + 1), 40), line(`Chapter ${"abcdef"[at]}`)]],
    [
      "headings of chapters that end in the page's number",
      (at) => page(`Chapter ${"abcdef"[at]}  ${at + 7}`, `About ${at}`),
    ],
  ])("%s", (_, pageAt) => {
    const pages = Array.from({ length: 6 }, (_, at) => pageAt(at));
    expect(left(pages)).toEqual(all(pages));
  });

  test("if it is a row whose cells could all be the page number", () => {
    const row = "1  i  i  i";
    const pages = [page("Acme", "Fee  2", row, "Page 1 of 2"), page("Acme", "Rent  3", "Page 2 of 2")];
    expect(left(pages).flat()).toContain(row);
  });

  test("if it is a row that occurs both at the edges of pages and within them", () => {
    const rows = ["Fee  1.00", "Shop  12.50", "Fee  1.00", "Rent  700.00", "Fee  1.00"];
    const pages = Array.from({ length: 8 }, () => page(...rows));
    expect(left(pages)).toEqual(all(pages));
  });
});

const word = fc.constantFrom("Fee", "Rent", "Shop", "Total", "Clause", "Item", "Point", "i", "x", "C");
const number = fc.oneof(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 0, max: 99_999 })).map(String);
const cell = fc.oneof(word, number);
const made: [kind: string, pages: fc.Arbitrary<PdfLine[][]>][] = [
  [
    "table",
    fc
      .record({
        rows: fc.array(fc.tuple(number, word, cell, cell), { minLength: 1, maxLength: 60 }),
        each: fc.integer({ min: 1, max: 9 }),
      })
      .map(({ rows, each }) =>
        inPages(
          rows.map((cells) => line(cells.join("  "))),
          each,
        ),
      ),
  ],
  [
    "list",
    fc
      .record({
        items: fc.array(fc.tuple(word, cell), { minLength: 1, maxLength: 60 }),
        each: fc.integer({ min: 1, max: 9 }),
      })
      .map(({ items, each }) =>
        inPages(
          items.map(([first, second], at) => line(`${at + 1}. ${first} ${second}`)),
          each,
        ),
      ),
  ],
  [
    "deck",
    fc
      .array(fc.record({ title: fc.tuple(word, cell), points: fc.array(fc.tuple(word, cell), { maxLength: 4 }) }), {
        minLength: 1,
        maxLength: 12,
      })
      .map((slides) =>
        slides.map(({ title, points }) => [line(title.join(" "), 24), ...points.map((point) => line(point.join(" ")))]),
      ),
  ],
];

function inPages(lines: readonly PdfLine[], each: number): PdfLine[][] {
  return Array.from({ length: Math.ceil(lines.length / each) }, (_, at) => lines.slice(at * each, at * each + each));
}

test.each(made)("in a %s of any kind every word is kept, also beside running heads and page numbers", (_, pages) => {
  const wordsOf = (pages: PdfLine[][]) => new Set(pages.flat().flatMap(({ text }) => text.split(/\s+/)));
  fc.assert(
    fc.property(pages, fc.boolean(), (pages, furnished) => {
      const given = furnished
        ? pages.map((lines, at) => [line("Acme Statement"), ...lines, line(`Page ${at + 1} of ${pages.length}`)])
        : pages;
      const kept = wordsOf(removeFurniture(given, isTitle));
      for (const word of wordsOf(pages)) expect(kept).toContain(word);
    }),
    { numRuns: 2000 },
  );
});
