import { expect, test } from "bun:test";
import fc from "fast-check";
import { docxOf, odfOf, pdfOf, pptxOf, xlsxOf } from "../../testing/documents.ts";
import { mimeTypes } from "../../testing/hostile-documents/hostile-document.ts";
import { chunkSections } from "./chunking.ts";
import { estimateTokens } from "./estimate-tokens.ts";
import { parse } from "./parse.ts";

/** Content of a document: rows of cells under a header, with a number of rows per page. */
interface Made {
  title: string;
  rows: string[][];
  each: number;
  furnished: boolean;
}

const word = fc.constantFrom("Fee", "Rent", "Shop", "Clause", "Item", "Total", "i", "x", "C", "Zürich", "第三", "vii");
const number = fc.oneof(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 0, max: 99_999 })).map(String);
const cell = fc.array(fc.oneof(word, number), { minLength: 1, maxLength: 2 }).map((words) => words.join(" "));
const made: fc.Arbitrary<Made> = fc.integer({ min: 1, max: 4 }).chain((columns) =>
  fc.record({
    title: fc.tuple(word, number).map((words) => words.join(" ")),
    rows: fc.array(fc.array(cell, { minLength: columns, maxLength: columns }), { minLength: 1, maxLength: 70 }),
    each: fc.integer({ min: 1, max: 40 }),
    furnished: fc.boolean(),
  }),
);

const pagesOf = <T>(all: readonly T[], each: number): T[][] =>
  Array.from({ length: Math.ceil(all.length / each) }, (_, at) => all.slice(at * each, at * each + each));
const textOf = (cells: readonly string[]) => cells.join(" ");
const utf8 = (text: string) => new TextEncoder().encode(text);

/** Builds a document with this content in each format. */
const formats: Record<string, [kind: keyof typeof mimeTypes, make: (made: Made) => Uint8Array]> = {
  "a table in a PDF": [
    "pdf",
    ({ title, rows, each, furnished }) => {
      const pages = pagesOf(rows, each).map((some) => some.map((cells) => cells.join("\t")));
      const foot = (at: number) => (furnished ? [`Page ${at + 1} of ${pages.length}`] : []);
      return pdfOf(pages.map((lines, at) => [...(at === 0 ? [`# ${title}`] : []), ...lines, ...foot(at)].join("\n")));
    },
  ],
  "a list in a PDF": [
    "pdf",
    ({ title, rows, each, furnished }) => {
      const pages = pagesOf(
        rows.map((cells, at) => `${at + 1}.\t${textOf(cells)}`),
        each,
      );
      return pdfOf(pages.map((lines) => [...(furnished ? ["Acme Report"] : []), title, ...lines].join("\n")));
    },
  ],
  "slides in a PDF": [
    "pdf",
    ({ title, rows }) => pdfOf([`# ${title}`, ...rows.map(([first, ...more]) => [`# ${first}`, ...more].join("\n"))]),
  ],
  "a text document": ["docx", ({ title, rows }) => docxOf([{ heading: title, rows }])],
  "a workbook": ["xlsx", ({ title, rows }) => xlsxOf([{ name: title, rows }])],
  "a presentation": [
    "pptx",
    ({ title, rows }) =>
      pptxOf(rows.map((cells, at) => ({ title: `${title} ${at}`, text: cells.join("\n"), notes: title }))),
  ],
  "an OpenDocument table": [
    "odt",
    ({ title, rows }) => {
      const cells = (row: string[]) =>
        row.map((text) => `<table:table-cell><text:p>${text}</text:p></table:table-cell>`).join("");
      const table = rows.map((row) => `<table:table-row>${cells(row)}</table:table-row>`).join("");
      return odfOf(`<text:h>${title}</text:h><table:table>${table}</table:table>`);
    },
  ],
  "a table in CSV": ["csv", ({ title, rows }) => utf8([[title], ...rows].map((row) => row.join(",")).join("\n"))],
  "a page of HTML": [
    "html",
    ({ title, rows }) => {
      const cells = rows.map((row) => `<tr>${row.map((text) => `<td>${text}</td>`).join("")}</tr>`);
      return utf8(`<h1>${title}</h1><table>${cells.join("")}</table>`);
    },
  ],
};

test.each(Object.keys(formats))("every word of %s is in a chunk or its heading", async (name) => {
  const [kind, make] = formats[name]!;
  await fc.assert(
    fc.asyncProperty(made, async (given) => {
      const { sections } = await parse(make(given), mimeTypes[kind]);
      const chunks = [
        ...chunkSections(sections, { max_chunk_size_tokens: 200, chunk_overlap_tokens: 0 }, estimateTokens),
      ];
      const found = new Set(chunks.flatMap(({ text, heading }) => `${heading ?? ""} ${text}`.split(/\s+/)));
      const said = [given.title, ...given.rows.flat()].flatMap((text) => text.split(" "));
      expect(said.filter((one) => !found.has(one))).toEqual([]);
    }),
    { numRuns: 10, seed: 21 },
  );
});
