import { entryOf } from "../../lib/collections.ts";
import { requireValue } from "../../lib/require-value.ts";
import { outlineDrawings } from "./drawing-text.ts";
import { createHiddenText, type HiddenText, quoteName } from "./hidden-text.ts";
import { markdownTable } from "./markdown.ts";
import { mainPart, type OfficeFile, openOffice } from "./office.ts";
import type { Outline } from "./outline.ts";
import { hasWords } from "./page-edges.ts";
import type { ParseOptions } from "./parse-options.ts";
import { commentsOf, personsOf, threadsOf } from "./sheet-comments.ts";
import { combineListeners, type PartReader, readXml, type XmlListener } from "./xml.ts";

/** Maximum columns of a sheet. Cells beyond it are invalid. */
const columnLimit = 16_384;

/**
 * Parses a workbook: each sheet is a table under its name, with its drawings and comments. Values are those last
 * calculated; a cell without one shows its formula.
 */
export function parseXlsx(bytes: Uint8Array, outline: Outline, { includeHidden }: ParseOptions): void {
  const file = openOffice(bytes, outline);
  const main = mainPart(file, "xl/workbook.xml");
  const workbook = file.need(main);
  const related = file.related(main);
  const part = (type: string) => file.part([...related.values()].find((one) => one.type === type)?.part ?? "");
  const book = {
    strings: sharedStrings(part("sharedStrings")),
    kinds: numberKinds(part("styles")),
    epoch: epochOf(workbook),
  };
  const persons = personsOf(part("person"));
  const hiddenText = createHiddenText(outline, includeHidden);
  for (const { name, id, isHidden } of sheetsOf(workbook)) {
    const sheet = related.get(id)?.part ?? "";
    if (!isHidden || includeHidden) outlineSheet(file, sheet, { name, book, persons, hiddenText }, outline);
    else hiddenText.skip("sheet", sheetText(file.part(sheet), book), quoteName(name));
  }
  hiddenText.warn();
}

interface Sheet {
  name: string;
  book: Book;
  persons: ReadonlyMap<string, string>;
  hiddenText: HiddenText;
}

function outlineSheet(
  file: OfficeFile,
  part: string,
  { name, book, persons, hiddenText }: Sheet,
  outline: Outline,
): void {
  const [cells, merged, { hints, ...data }, { edges, ...pages }] = [
    rowReader(book),
    mergeReader(),
    hintReader(),
    edgeReader(),
  ];
  file.part(part)(combineListeners(cells, merged, data, pages));
  const rows = shownRows(cells.rows, { name, hiddenText, merged: merged.ranges, isHiddenColumn: cells.isHiddenColumn });
  if (rows.length === 0 && edges.size === 0 && file.related(part).size === 0) return;
  outline.heading(1, name);
  const start = startOfTable(rows);
  for (const { values } of rows.slice(0, start)) outline.block(values.join(" "));
  if (rows.length > start) outline.block(markdownTable(dropEmptyColumns(rows.slice(start))));
  outlineDrawings(file, part, outline);
  const relatedPart = (type: string) =>
    file.part([...file.related(part).values()].find((one) => one.type === type)?.part ?? "");
  const threads = threadsOf(relatedPart("threadedComment"), persons);
  for (const text of commentsOf(relatedPart("comments"), new Set(threads.keys()))) outline.block(text);
  for (const texts of threads.values()) for (const text of texts) outline.block(text);
  for (const text of [...hints, ...edges]) outline.block(text);
}

function sheetText(read: PartReader, book: Book): string {
  const cells = rowReader(book);
  read(cells);
  return cells.rows.map(({ values }) => values.join(" ")).join(" ");
}

/** The non-empty cells of a row, by column from 0. */
export interface Row {
  /** Row number from 1. */
  number: number;
  isHidden: boolean;
  columns: number[];
  values: string[];
}

interface ShownOptions {
  name: string;
  hiddenText: HiddenText;
  merged: readonly Range[];
  isHiddenColumn: (column: number) => boolean;
}

/** Leaves out hidden rows and columns, and cells that a merged cell covers. */
function shownRows(rows: readonly Row[], { name, hiddenText, merged, isHiddenColumn }: ShownOptions): readonly Row[] {
  if (hiddenText.isIncluded) return rows;
  const sheet = quoteName(name);
  const isCovered = coverage(merged);
  return rows.flatMap((row) => {
    if (row.isHidden) {
      hiddenText.skip("row", row.values.join(" "), `${sheet} row ${row.number}`);
      return [];
    }
    const shown = { ...row, columns: [] as number[], values: [] as string[] };
    for (const [at, column] of row.columns.entries()) {
      const value = requireValue(row.values[at], "A cell");
      const place = columnName(column);
      if (isHiddenColumn(column)) hiddenText.skip("column", value, `${sheet} column ${place}`);
      else if (isCovered(row.number, column)) hiddenText.skip("cell", value, `${sheet} ${place}${row.number}`);
      else {
        shown.columns.push(column);
        shown.values.push(value);
      }
    }
    return shown.values.length > 0 ? [shown] : [];
  });
}

/** A merged cell: rows from 1, columns from 0. */
interface Range {
  top: number;
  bottom: number;
  left: number;
  right: number;
}

/** Most columns of all merged cells together, so that few bytes of a file do not cost minutes. */
const coveredMost = 1_000_000;

/** Returns a function that is true for a cell that a merged cell covers. It must be called row by row, from the first. */
function coverage(ranges: readonly Range[]): (row: number, column: number) => boolean {
  const waiting = ranges.toSorted((one, other) => other.top - one.top);
  const covered = new Map<number, Range>();
  let left = coveredMost;
  return (row, column) => {
    for (let next = waiting.at(-1); next && next.top <= row; next = waiting.at(-1)) {
      waiting.pop();
      left -= next.right - next.left + 1;
      if (left < 0) return false;
      for (let at = next.left; at <= next.right; at++) covered.set(at, next);
    }
    const range = covered.get(column);
    if (range === undefined || row > range.bottom || row < range.top) return false;
    return row > range.top || column > range.left;
  };
}

function mergeReader(): XmlListener & { ranges: Range[] } {
  const ranges: Range[] = [];
  return {
    ranges,
    open(name, attribute) {
      if (name !== "mergeCell") return;
      const [first = "", last = first] = (attribute("ref") ?? "").split(":");
      const [top, bottom] = [first, last].map((place) => Number(/\d{1,7}$/.exec(place)?.[0] ?? 0)) as [number, number];
      const [left, right] = [columnOf(first), Math.min(columnLimit - 1, columnOf(last))];
      if (left >= 0 && right >= left && bottom >= top) ranges.push({ top, bottom, left, right });
    },
  };
}

/** A, B, … Z, AA, … */
const columnName = (column: number): string =>
  (column < 26 ? "" : columnName(Math.floor(column / 26) - 1)) + String.fromCharCode(65 + (column % 26));

/** Returns the first row with several cells. A single cell above a table is its title, not a header. */
export function startOfTable(rows: readonly Row[]): number {
  return Math.max(
    0,
    rows.findIndex(({ values }) => values.length > 1),
  );
}

/** Drops empty columns, so that a stray cell far to the right does not widen the table. */
export function dropEmptyColumns(rows: readonly Row[]): string[][] {
  const used = [...new Set(rows.flatMap(({ columns }) => columns))].sort((a, b) => a - b);
  const places = new Map(used.map((column, at) => [column, at]));
  return rows.map(({ columns, values }) => {
    const cells: string[] = [];
    for (const [at, column] of columns.entries()) {
      while (cells.length < entryOf(places, column)) cells.push("");
      cells.push(requireValue(values[at], "A cell"));
    }
    return cells;
  });
}

const isTrue = (value: string | null): boolean => /^(?:1|true)$/.test(value ?? "");

interface SheetName {
  name: string;
  id: string;
  isHidden: boolean;
}

function sheetsOf(workbook: Uint8Array): SheetName[] {
  const sheets: SheetName[] = [];
  readXml(workbook, {
    open(tag, attribute) {
      if (tag !== "sheet") return;
      const isHidden = /hidden$/i.test(attribute("state") ?? "");
      sheets.push({ name: attribute("name") ?? "", id: attribute("id", true) ?? "", isHidden });
    },
  });
  return sheets;
}

function sharedStrings(read: PartReader): string[] {
  const strings: string[] = [];
  let current = "";
  let [reading, aside] = [false, false];
  read({
    open(name) {
      if (name === "si") current = "";
      // Phonetic hints (furigana) are not part of the cell's text.
      if (name === "rPh") aside = true;
      reading = name === "t" && !aside;
    },
    close(name) {
      if (name === "si") strings.push(current);
      if (name === "rPh") aside = false;
      if (name === "t") reading = false;
    },
    text(text) {
      if (reading) current += text;
    },
  });
  return strings;
}

/** The kinds of numbers that are not shown as numbers. */
type NumberKind = "date" | "duration" | null;

/** Returns for each cell format how it shows a number. */
function numberKinds(read: PartReader): NumberKind[] {
  const [own, formats]: [Map<string, string>, NumberKind[]] = [new Map(), []];
  let inCells = false;
  read({
    open(name, attribute) {
      if (name === "numFmt") own.set(attribute("numFmtId") ?? "", attribute("formatCode") ?? "");
      if (name === "cellXfs") inCells = true;
      if (name === "xf" && inCells) formats.push(kindOf(attribute("numFmtId") ?? "", own));
    },
    close(name) {
      if (name === "cellXfs") inCells = false;
    },
  });
  return formats;
}

/** Built-in formats of dates and times. Those from 27 on are dates in the languages of East Asia. */
const isBuiltInDate = (id: number): boolean =>
  (id >= 14 && id <= 22) || (id >= 27 && id <= 36) || id === 45 || id === 47 || (id >= 50 && id <= 58);
const builtInDuration = 46;

function kindOf(id: string, own: ReadonlyMap<string, string>): NumberKind {
  const given = own.get(id);
  const number = Number(id);
  if (given === undefined) return number === builtInDuration ? "duration" : isBuiltInDate(number) ? "date" : null;
  // Literals, and the characters that pad or repeat.
  const code = given.replace(/"[^"]*"|\\.|[_*]./g, "");
  if (/\[(?:h+|m+|s+)\]/i.test(code)) return "duration";
  const letters = code.replace(/\[[^\]]*\]|general/gi, "").split(";")[0] ?? "";
  return /[dmyhs]/i.test(letters) && !/0[.,]?0(?!\w)|#|\?/.test(letters.replace(/s+[.,]0+/gi, "")) ? "date" : null;
}

/** Parts of a workbook that are needed to read its cells. */
interface Book {
  strings: readonly string[];
  /** For each cell format, how it shows a number. */
  kinds: readonly NumberKind[];
  epoch: number;
}

interface RowReader extends XmlListener {
  rows: Row[];
  isHiddenColumn(column: number): boolean;
}

function rowReader({ strings, kinds, epoch }: Book): RowReader {
  const rows: Row[] = [];
  const hiddenColumns = new Uint8Array(columnLimit);
  let row: Row = { number: 0, isHidden: false, columns: [], values: [] };
  let next = 0;
  let cell = { type: "", kind: null as NumberKind, value: "", formula: "", column: 0 };
  let reading: "value" | "formula" | null = null;
  const endCell = () => {
    const value = shown(cell, strings, epoch);
    if (value.trim() === "" || cell.column >= columnLimit) return;
    row.columns.push(cell.column);
    row.values.push(value);
  };
  return {
    rows,
    isHiddenColumn: (column) => hiddenColumns[column] === 1,
    open(name, attribute) {
      if (name === "col" && isTrue(attribute("hidden")))
        hiddenColumns.fill(1, Math.max(0, Number(attribute("min")) - 1), Number(attribute("max")) || 0);
      if (name === "row") {
        const number = Number(attribute("r")) || row.number + 1;
        row = { number, isHidden: isTrue(attribute("hidden")), columns: [], values: [] };
        next = 0;
      }
      if (name === "c") {
        // A cell without a position, or with one already used, follows the previous cell.
        const column = Math.max(next, columnOf(attribute("r")));
        const kind = kinds[Number(attribute("s") ?? 0)] ?? null;
        cell = { type: attribute("t") ?? "n", kind, value: "", formula: "", column };
        next = column + 1;
      }
      if (name === "v" || name === "t") reading = "value";
      else reading = name === "f" ? "formula" : null;
    },
    close(name) {
      reading = null;
      if (name === "c") endCell();
      if (name === "row" && row.values.length > 0) rows.push(row);
    },
    text(text) {
      if (reading) cell[reading] += text;
    },
  };
}

/** Returns the column of a cell reference, from 0: "AB12" is in column 27. */
function columnOf(place: string | null): number {
  const letters = /^[A-Z]{1,3}/.exec(place ?? "")?.[0] ?? "";
  return [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
}

interface Cell {
  type: string;
  kind: NumberKind;
  value: string;
  formula: string;
}

function shown({ type, kind, value, formula }: Cell, strings: readonly string[], epoch: number): string {
  if (value.trim() === "" && formula !== "") return `=${formula}`;
  if (type === "s") return strings[Number(value)] ?? "";
  if (type === "b") return value === "1" ? "TRUE" : "FALSE";
  if (type === "n" && kind === "duration") return durationOf(Number(value)) ?? value;
  if (type === "n" && kind === "date") return dateOf(Number(value), epoch) ?? value;
  if (type === "n" && /[.eE]/.test(value)) return shortest(value);
  // A date as text, without a time if it has none.
  if (type === "d") return value.replace(/T00:00:00(?:\.0+)?Z?$/, "").replace("T", " ");
  return value;
}

/** Returns the fewest digits of the same number: programs store 0.0617 as `6.1699999999999998E-2`. */
function shortest(value: string): string {
  const number = Number(value);
  return value.trim() !== "" && Number.isFinite(number) ? String(number) : value;
}

const epoch1900 = 25_569;

/** Returns the number of days from the workbook's epoch (end of 1899, or 1904) to 1970-01-01. */
function epochOf(workbook: Uint8Array): number {
  let epoch = epoch1900;
  readXml(workbook, {
    open(name, attribute) {
      if (name === "workbookPr" && /^(?:1|true)$/.test(attribute("date1904") ?? "")) epoch = 24_107;
    },
  });
  return epoch;
}

/** Converts days since the epoch to a date and time; a value below one is a time of day. */
function dateOf(days: number, epoch: number): string | null {
  if (!(days >= 0 && days < 2_958_466)) return null;
  // Excel counts a 29 February 1900, which was no day.
  const early = epoch === epoch1900 && days >= 1 && days < 60 ? 1 : 0;
  const iso = new Date(Math.round((days + early - epoch) * 86_400) * 1000).toISOString();
  if (days < 1) return iso.slice(11, 19);
  return iso.endsWith("T00:00:00.000Z") ? iso.slice(0, 10) : iso.slice(0, 19).replace("T", " ");
}

/** Converts days to hours, minutes and seconds, of which there may be more hours than in a day. */
function durationOf(days: number): string | null {
  if (!(Math.abs(days) < 1_000_000)) return null;
  const seconds = Math.round(Math.abs(days) * 86_400);
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return (days < 0 ? "-" : "") + parts.map((part) => String(part).padStart(2, "0")).join(":");
}

/** Matches the headers and footers of a sheet's odd, even and first printed pages. */
const headerFooterTag = /^(?:odd|even|first)(?:Header|Footer)$/;

/**
 * Collects the headers and footers of a sheet, each text once. Codes that begin with `&` (page number, date, file name,
 * picture, font, colour) are removed.
 */
function edgeReader(): XmlListener & { edges: Set<string> } {
  const edges = new Set<string>();
  let [inEdge, code] = [false, ""];
  return {
    edges,
    open(name) {
      if (headerFooterTag.test(name)) [inEdge, code] = [true, ""];
    },
    close(name) {
      if (!headerFooterTag.test(name)) return;
      const text = textOf(code);
      if (hasWords(text)) edges.add(text);
      inEdge = false;
    },
    text(piece) {
      if (inEdge) code += piece;
    },
  };
}

/**
 * Matches `&"Arial,Bold"`, `&12`, `&K0070C0`, `&K01+000`, `&P+1` and single letters, of which L, C and R begin a part.
 */
const formatCodes = /&(?:"[^"]*"|\d{1,3}|K(?:[0-9A-F]{6}|\d\d[+-]\d{3})|[PN][+-]\d{1,5}|&|[A-Z])/gi;

const textOf = (code: string): string =>
  code
    .replace(formatCodes, (found) => (found === "&&" ? "&" : /^&[LCR]$/i.test(found) ? " " : ""))
    .replace(/\s+/g, " ")
    .trim();

/** Collects the input hints, error messages and allowed values of cells (data validation). */
function hintReader(): XmlListener & { hints: Set<string> } {
  const hints = new Set<string>();
  let [hintTexts, reading, formula] = [[] as string[], false, ""];
  return {
    hints,
    open(name, attribute) {
      const hintText = (title: string, text: string) =>
        [attribute(title) ?? "", attribute(text) ?? ""].filter((one) => one.trim() !== "").join(": ");
      reading = name === "formula1";
      if (name !== "dataValidation") return;
      hintTexts = [hintText("promptTitle", "prompt"), hintText("errorTitle", "error")];
      formula = "";
    },
    close(name) {
      reading = false;
      if (name !== "dataValidation") return;
      // A formula that is no literal list refers to other cells.
      const choices = /^"(.*)"$/s.exec(formula.trim())?.[1]?.split(",").join(", ") ?? "";
      const parts = [...hintTexts, choices === "" ? "" : `Choices: ${choices}`].filter((part) => part !== "");
      if (parts.length > 0) hints.add(parts.join(". "));
    },
    text(piece) {
      if (reading) formula += piece;
    },
  };
}
