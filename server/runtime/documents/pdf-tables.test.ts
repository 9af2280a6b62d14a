import { expect, test } from "bun:test";
import { type PlacedText, pdfOfPlaced } from "../../testing/documents.ts";
import { parse } from "./parse.ts";
import type { PdfLine } from "./pdf-lines.ts";
import { tableLines, tablesIn } from "./pdf-tables.ts";

/** A line with words at these positions; each letter is 5 wide. */
const line = (cells: Record<number, string>, at = 0): PdfLine => {
  const found = Object.entries(cells).map(([from, text]) => ({ text, from: +from, to: +from + 5 * text.length }));
  const texts = found.map(({ text }) => text);
  return {
    text: texts.join(" "),
    parts: texts,
    cells: found,
    size: 10,
    hasGapAbove: false,
    box: [0, at / 50, 1, (at + 1) / 50],
  };
};
const markdown = (lines: PdfLine[]) =>
  tablesIn(lines, () => false).map((found) =>
    "rows" in found ? tableLines(found, null).lines.map(({ text }) => text) : found.text,
  );

test("lines with aligned cells are a table, however they are aligned and whichever cells are empty", () => {
  const rows = [
    line({ 0: "Name", 100: "Sum", 200: "Left" }),
    line({ 0: "Ann Lee", 105: "7" }, 1),
    line({ 90: "1,234", 210: "x" }, 2),
  ];
  expect(markdown([line({ 0: "A report" }), ...rows, line({ 0: "The end of it" }, 3)])).toEqual([
    "A report",
    ["| Name | Sum | Left |", "| --- | --- | --- |", "| Ann Lee | 7 |  |", "|  | 1,234 | x |"],
    "The end of it",
  ]);
});

test("a single line, one whose cells span two columns, a table of contents and list numbers are no table", () => {
  expect(markdown([line({ 0: "left", 200: "right" })])).toEqual(["left right"]);
  expect(markdown([line({ 0: "a", 50: "b" }), line({ 0: "one that is longer", 120: "c" }, 1)])).toEqual([
    "a b",
    "one that is longer c",
  ]);
  expect(markdown([line({ 0: "1", 50: "Scope … 3" }), line({ 0: "2", 50: "Terms … 4" }, 1)])).toHaveLength(2);
  expect(
    markdown([line({ 0: "1.", 50: "Boil" }), line({ 0: "(b)", 50: "Wait" }, 1), line({ 0: "•", 50: "x" }, 2)]),
  ).toHaveLength(3);
});

test("a continued table has its header again, and a header that was printed again appears once", () => {
  const header = line({ 0: "Name", 100: "Sum" });
  const tableOf = (lines: PdfLine[]) => {
    const [table] = tablesIn(lines, () => false);
    if (!table || !("rows" in table)) throw new Error("No table.");
    return table;
  };
  const first = tableLines(tableOf([header, line({ 0: "Ann", 100: "1" }, 1)]), null);
  const next = tableOf([line({ 0: "Bob", 100: "2" }), line({ 0: "Cid", 100: "3" }, 1)]);
  expect(tableLines(next, first.header)).toEqual({
    lines: [
      { text: "| Name | Sum |", box: null },
      { text: "| --- | --- |", box: null },
      { text: "| Bob | 2 |", box: [0, 0, 1, 0.02] },
      { text: "| Cid | 3 |", box: [0, 0.02, 1, 0.04] },
    ],
    header: { columns: expect.any(Array), cells: ["Name", "Sum"] },
  });
  const again = tableOf([header, line({ 0: "Bob", 100: "2" }, 1)]);
  expect(tableLines(again, first.header).lines.map(({ text }) => text)).toEqual([
    "| Name | Sum |",
    "| --- | --- |",
    "| Bob | 2 |",
  ]);
  const other = tableOf([line({ 0: "x", 300: "y" }), line({ 0: "z", 300: "w" }, 1)]);
  expect(tableLines(other, first.header).lines[0]?.text).toBe("| x | y |");
});

/** A page of rows, each with texts at these places. */
const pageOf = (rows: readonly (readonly [x: number, text: string][])[]): PlacedText[] =>
  rows.flatMap((row, at) => row.map(([x, text]) => ({ text, x, y: 760 - 16 * at })));
const tablesOf = async (...pages: PlacedText[][]) =>
  (await parse(pdfOfPlaced(pages), "application/pdf")).sections.map(({ text }) => text).join("\n");
const bookings = ["Rent for May", "Salary", "Groceries at the corner", "Insurance"];

test("columns are told by the header where the cells below them nearly touch", async () => {
  const header: [number, string][] = [
    [60, "Date"],
    [118, "Booking"],
    [400, "Amount"],
  ];
  const rows = bookings.map((text, at): [number, string][] => [
    [60, `2026-05-0${at + 1}`],
    [114, text],
    [400, `${at + 1}5.00`],
  ]);
  const text = await tablesOf(pageOf([header, ...rows]));
  expect(text).toStartWith("| Date | Booking | Amount |\n| --- | --- | --- |\n| 2026-05-01 | Rent for May | 15.00 |");
  expect(text).toEndWith("| 2026-05-04 | Insurance | 45.00 |");
});

test("a statement that continues on the next page keeps its columns and its header", async () => {
  const header: [number, string][] = [
    [60, "Date"],
    [118, "Booking"],
    [400, "Amount"],
  ];
  const row = (at: number): [number, string][] => [
    [60, `2026-05-${String(at + 1).padStart(2, "0")}`],
    [114, bookings[at % bookings.length]!],
    [400, `${at + 1}5.00`],
  ];
  const rows = Array.from({ length: 60 }, (_, at) => row(at));
  const text = await tablesOf(pageOf([header, ...rows.slice(0, 44)]), pageOf(rows.slice(44)));
  expect(text.match(/\| Date \| Booking \| Amount \|/g)).toHaveLength(2);
  expect(text).toContain("| 2026-05-45 | Rent for May | 455.00 |");
});
