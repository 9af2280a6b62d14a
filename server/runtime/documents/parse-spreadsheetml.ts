import { createHiddenText, type HiddenText, quoteName } from "./hidden-text.ts";
import { markdownTable } from "./markdown.ts";
import type { Outline } from "./outline.ts";
import type { ParseOptions } from "./parse-options.ts";
import { dropEmptyColumns, type Row, startOfTable } from "./parse-xlsx.ts";
import { type Attributes, readXml, type XmlListener } from "./xml.ts";

const columnLimit = 16_384;

/** Parses a workbook of Excel 2002 or 2003 in XML: each sheet is a table under its name, with its comments. */
export function parseSpreadsheetml(bytes: Uint8Array, outline: Outline, { includeHidden }: ParseOptions): void {
  const hiddenText = createHiddenText(outline, includeHidden);
  readXml(bytes, sheetReader(outline, hiddenText));
  hiddenText.warn();
}

interface OpenSheet {
  name: string;
  isHidden: boolean;
  rows: Row[];
  comments: string[];
  hiddenColumns: Uint8Array;
}

function sheetReader(outline: Outline, hiddenText: HiddenText): XmlListener {
  let sheet = newSheet("");
  let row: Row = newRow(0, false);
  let [column, columnDefinition, text, comment] = [0, 0, "", ""];
  let [cell, type] = [0, ""];
  // The innermost of the elements that hold text.
  let reading: "Data" | "Comment" | "Visible" | null = null;
  const endCell = () => {
    const value = shownValue(type, text.trim());
    if (value !== "" && cell < columnLimit) {
      if (sheet.hiddenColumns[cell] && !hiddenText.isIncluded) hiddenText.skip("column", value, quoteName(sheet.name));
      else {
        row.columns.push(cell);
        row.values.push(value);
      }
    }
    if (comment.trim() !== "") sheet.comments.push(`> Comment: ${comment.replace(/\s+/g, " ").trim()}`);
  };
  const starts: Record<string, (attribute: Attributes) => void> = {
    Worksheet(attribute) {
      sheet = newSheet(attribute("Name") ?? "");
      [row, columnDefinition] = [newRow(0, false), 0];
    },
    Column(attribute) {
      const from = indexOf(attribute, columnDefinition);
      columnDefinition = from + 1 + (Number(attribute("Span")) || 0);
      if (attribute("Hidden") === "1") sheet.hiddenColumns.fill(1, from, columnDefinition);
    },
    Row(attribute) {
      row = newRow(indexOf(attribute, row.number) + 1, attribute("Hidden") === "1");
      column = 0;
    },
    Cell(attribute) {
      cell = indexOf(attribute, column);
      column = cell + 1 + (Number(attribute("MergeAcross")) || 0);
      [text, comment, type] = ["", "", ""];
    },
    Comment() {
      reading = "Comment";
    },
    Data(attribute) {
      // The text of a comment is in an element of the same name.
      if (reading !== "Comment") [reading, type] = ["Data", attribute("Type") ?? ""];
    },
    Visible() {
      [reading, text] = ["Visible", ""];
    },
  };
  const ends: Record<string, () => void> = {
    Data() {
      if (reading === "Data") reading = null;
    },
    Comment() {
      reading = null;
    },
    Visible() {
      reading = null;
      sheet.isHidden = /hidden/i.test(text);
    },
    Cell: endCell,
    Row() {
      if (row.values.length === 0) return;
      if (row.isHidden && !hiddenText.isIncluded)
        hiddenText.skip("row", row.values.join(" "), `${quoteName(sheet.name)} row ${row.number}`);
      else sheet.rows.push(row);
    },
    Worksheet() {
      outlineSheet(sheet, outline, hiddenText);
    },
  };
  return {
    open(name, attribute) {
      if (Object.hasOwn(starts, name)) starts[name]?.(attribute);
    },
    close(name) {
      if (Object.hasOwn(ends, name)) ends[name]?.();
    },
    text(piece) {
      if (reading === "Comment") comment += piece;
      else if (reading !== null) text += piece;
    },
  };
}

function outlineSheet({ name, isHidden, rows, comments }: OpenSheet, outline: Outline, hiddenText: HiddenText): void {
  if (rows.length === 0 && comments.length === 0) return;
  if (isHidden && !hiddenText.isIncluded) {
    const text = [...rows.flatMap(({ values }) => values), ...comments].join(" ");
    hiddenText.skip("sheet", text, quoteName(name));
    return;
  }
  outline.heading(1, name);
  const start = startOfTable(rows);
  for (const { values } of rows.slice(0, start)) outline.block(values.join(" "));
  if (rows.length > start) outline.block(markdownTable(dropEmptyColumns(rows.slice(start))));
  for (const text of comments) outline.block(text);
}

const newSheet = (name: string): OpenSheet => ({
  name,
  isHidden: false,
  rows: [],
  comments: [],
  hiddenColumns: new Uint8Array(columnLimit),
});
const newRow = (number: number, isHidden: boolean): Row => ({ number, isHidden, columns: [], values: [] });

/** Returns the place of a row, column or cell from 0: its own, or the next one. Places never go back. */
const indexOf = (attribute: Attributes, next: number): number =>
  Math.min(2 ** 20, Math.max(next, (Number(attribute("Index")) || 0) - 1));

function shownValue(type: string, text: string): string {
  if (type === "Boolean") return text === "1" ? "TRUE" : "FALSE";
  if (type !== "DateTime") return text;
  // A time alone is stored on the first day of Excel.
  return text
    .replace(/(?:\.0+)?Z?$/, "")
    .replace(/^1899-12-31T/, "")
    .replace(/T00:00:00$/, "")
    .replace("T", " ");
}
