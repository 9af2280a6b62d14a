import { commonWidth, type Rows, readRows } from "./csv-rows.ts";
import { decodeDocument } from "./decode-document.ts";
import { markdownTable } from "./markdown.ts";
import type { Outline } from "./outline.ts";
import type { ParseOptions } from "./parse-options.ts";

/** Parses a table of text. Lines above the table become paragraphs, as its title, and so do single cells below it. */
export function parseCsv(bytes: Uint8Array, outline: Outline, options: ParseOptions): void {
  const rows = readRows(decodeDocument(bytes, outline, options));
  const { above, table, below } = partsOf(rows);
  for (const row of above) outline.block(lineOf(row));
  if (table.length > 0) outline.block(markdownTable(withoutEmptyEnd(table)));
  for (const row of below) outline.block(lineOf(row));
}

/** Separates the table from what stands above it, with one or two cells, and below it, with one. */
function partsOf(rows: Rows): { above: Rows; table: Rows; below: Rows } {
  const { width } = commonWidth(rows);
  if (width < 2) return { above: [], table: rows, below: [] };
  const isBeside = (row: string[]) => filled(row) <= (width > 2 ? 2 : 1) && row.length < width;
  const isTitle = (row: string[]) => filled(row) === 1 && row[0]?.trim() !== "";
  const first = Math.max(
    0,
    rows.findIndex((row) => !isBeside(row) && !isTitle(row)),
  );
  const last = rows.findLastIndex((row) => row.length > 1);
  return { above: rows.slice(0, first), table: rows.slice(first, last + 1), below: rows.slice(last + 1) };
}

const filled = (row: string[]): number => row.filter((cell) => cell.trim() !== "").length;

const lineOf = (row: string[]): string => {
  const [name = "", ...values] = row.map((cell) => cell.trim()).filter((cell) => cell !== "");
  return values.length === 0 ? name : `${name.replace(/:$/, "")}: ${values.join(", ")}`;
};

/** Removes the columns at the end that are empty in all rows: some programs end each line with a separator. */
function withoutEmptyEnd(rows: Rows): Rows {
  const widthOf = (row: string[]) => row.findLastIndex((cell) => cell.trim() !== "") + 1;
  const width = rows.reduce((most, row) => Math.max(most, widthOf(row)), 0);
  return rows.map((row) => row.slice(0, width));
}
