import { entryOf } from "../../lib/collections.ts";
import { requireValue } from "../../lib/require-value.ts";
import { outlineDrawings } from "./drawing-text.ts";
import { markdownTable } from "./markdown.ts";
import { type OfficeFile, openOffice } from "./office.ts";
import type { Outline } from "./outline.ts";
import { hasWords } from "./page-edges.ts";
import { commentsOf, personsOf, threadsOf } from "./sheet-comments.ts";
import { combineListeners, readXml, type XmlListener } from "./xml.ts";

const main = "xl/workbook.xml";
/** Maximum columns of a sheet. Cells beyond it are invalid. */
const columnLimit = 16_384;

/**
 * Parses a workbook: each sheet is a table under its name, with its drawings and comments. Values are those last
 * calculated; a cell without one shows its formula.
 */
export function parseXlsx(bytes: Uint8Array, outline: Outline): void {
  const file = openOffice(bytes);
  const sheets = sheetsOf(file);
  const related = file.related(main);
  const partOf = (type: string) => [...related.values()].find((one) => one.type === type)?.part ?? "";
  const book = {
    strings: sharedStrings(file.read(partOf("sharedStrings"))),
    dates: dateFormats(file.read(partOf("styles"))),
    epoch: epochOf(file.need(main)),
  };
  const persons = personsOf(file.read(partOf("person")));
  for (const { name, id } of sheets) {
    const part = related.get(id)?.part ?? "";
    const content = file.read(part);
    const [{ rows, ...cells }, { hints, ...data }, { edges, ...pages }] = [rowReader(book), hintReader(), edgeReader()];
    if (content) readXml(content, combineListeners(cells, data, pages));
    if (rows.length === 0 && edges.size === 0 && file.related(part).size === 0) continue;
    outline.heading(1, name);
    const start = startOfTable(rows);
    for (const { values } of rows.slice(0, start)) outline.block(values.join(" "));
    if (rows.length > start) outline.block(markdownTable(dropEmptyColumns(rows.slice(start))));
    outlineDrawings(file, part, outline);
    const relatedContent = (type: string) =>
      file.read([...file.related(part).values()].find((one) => one.type === type)?.part ?? "");
    const threads = threadsOf(relatedContent("threadedComment"), persons);
    for (const text of commentsOf(relatedContent("comments"), new Set(threads.keys()))) outline.block(text);
    for (const texts of threads.values()) for (const text of texts) outline.block(text);
    for (const text of [...hints, ...edges]) outline.block(text);
  }
}

/** The non-empty cells of a row, by column from 0. */
interface Row {
  columns: number[];
  values: string[];
}

/** Returns the first row with several cells. A single cell above a table is its title, not a header. */
function startOfTable(rows: readonly Row[]): number {
  return Math.max(
    0,
    rows.findIndex(({ values }) => values.length > 1),
  );
}

/** Drops empty columns, so that a stray cell far to the right does not widen the table. */
function dropEmptyColumns(rows: readonly Row[]): string[][] {
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

function sheetsOf(file: OfficeFile): { name: string; id: string }[] {
  const sheets: { name: string; id: string }[] = [];
  readXml(file.need(main), {
    open(tag, attribute) {
      if (tag === "sheet") sheets.push({ name: attribute("name") ?? "", id: attribute("id", true) ?? "" });
    },
  });
  return sheets;
}

function sharedStrings(content: Uint8Array | null): string[] {
  const strings: string[] = [];
  let current = "";
  let [reading, aside] = [false, false];
  if (content === null) return strings;
  readXml(content, {
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

/** Returns for each cell format true if it displays a number as a date. */
function dateFormats(content: Uint8Array | null): boolean[] {
  const [own, formats]: [Map<string, string>, boolean[]] = [new Map(), []];
  let inCells = false;
  if (content === null) return formats;
  readXml(content, {
    open(name, attribute) {
      if (name === "numFmt") own.set(attribute("numFmtId") ?? "", attribute("formatCode") ?? "");
      if (name === "cellXfs") inCells = true;
      if (name === "xf" && inCells) formats.push(isDate(attribute("numFmtId") ?? "", own));
    },
    close(name) {
      if (name === "cellXfs") inCells = false;
    },
  });
  return formats;
}

function isDate(id: string, own: ReadonlyMap<string, string>): boolean {
  const code = own.get(id)?.replace(/"[^"]*"|\[[^\]]*\]|\\./g, "");
  if (code !== undefined) return /[dyhs]/i.test(code) && !/0[.,]?0|#/.test(code);
  const number = Number(id);
  return number >= 14 && number <= 22;
}

/** Parts of a workbook that are needed to read its cells. */
interface Book {
  strings: readonly string[];
  /** For each cell format, true if it displays a date. */
  dates: readonly boolean[];
  epoch: number;
}

function rowReader({ strings, dates, epoch }: Book): XmlListener & { rows: Row[] } {
  const rows: Row[] = [];
  let row: Row = { columns: [], values: [] };
  let next = 0;
  let cell = { type: "", date: false, value: "", formula: "", column: 0 };
  let reading: "value" | "formula" | null = null;
  const endCell = () => {
    const value = shown(cell, strings, epoch);
    if (value.trim() === "" || cell.column >= columnLimit) return;
    row.columns.push(cell.column);
    row.values.push(value);
  };
  return {
    rows,
    open(name, attribute) {
      if (name === "row") [row, next] = [{ columns: [], values: [] }, 0];
      if (name === "c") {
        // A cell without a position, or with one already used, follows the previous cell.
        const column = Math.max(next, columnOf(attribute("r")));
        const date = dates[Number(attribute("s") ?? 0)] === true;
        cell = { type: attribute("t") ?? "n", date, value: "", formula: "", column };
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
  date: boolean;
  value: string;
  formula: string;
}

function shown({ type, date, value, formula }: Cell, strings: readonly string[], epoch: number): string {
  if (value.trim() === "" && formula !== "") return `=${formula}`;
  if (type === "s") return strings[Number(value)] ?? "";
  if (type === "b") return value === "1" ? "TRUE" : "FALSE";
  if (type === "n" && date) return dateOf(Number(value), epoch) ?? value;
  return value;
}

/** Returns the number of days from the workbook's epoch (end of 1899, or 1904) to 1970-01-01. */
function epochOf(workbook: Uint8Array): number {
  let epoch = 25_569;
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
  const iso = new Date(Math.round((days - epoch) * 86_400) * 1000).toISOString();
  if (days < 1) return iso.slice(11, 19);
  return Number.isInteger(days) ? iso.slice(0, 10) : iso.slice(0, 19).replace("T", " ");
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
