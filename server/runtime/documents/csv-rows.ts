const separators = [",", ";", "\t", "|"] as const;
type Separator = (typeof separators)[number];

/** Rows of a text table. Rows without any text are left out. */
export type Rows = string[][];

const sampleLength = 262_144;
const sampleRows = 2000;

/** Returns the rows of a text table, by the separator that its first line names, else by the one that fits the file. */
export function readRows(text: string): Rows {
  const [line = "", named] = /^"?sep=(.)"?[ \t]*(?:\n|$)/i.exec(text) ?? [];
  if (named !== undefined) return rowsOf(text.slice(line.length), named);
  return rowsOf(text, separatorOf(text) ?? noSeparator);
}

/** For text with one column: no text contains it. */
const noSeparator = "\0";

/** Returns the separator that gives most rows the same number of cells, or null if there is one column. */
function separatorOf(text: string): string | null {
  const sample = text.slice(0, sampleLength);
  // The last line of a sample may be cut.
  const whole = sample.length < text.length ? sample.slice(0, sample.lastIndexOf("\n") + 1) || sample : sample;
  const candidates = separators
    .filter((separator) => whole.includes(separator))
    .map((separator) => {
      const rows = rowsOf(whole, separator).slice(0, sampleRows);
      return { separator, score: scoreOf(rows, separator), titles: rows[0]?.length ?? 0 };
    });
  const best = candidates.toSorted((a, b) => b.score - a.score || b.titles - a.titles)[0];
  if (!best) return null;
  if (best.score > 0) return best.separator;
  // Rows of any width: the one with the most titles.
  const widest = candidates.toSorted((a, b) => b.titles - a.titles)[0];
  return widest && widest.titles > 1 ? widest.separator : null;
}

/**
 * Share of the rows that have the most frequent width, times the share of cells that hold no other separator. Titles
 * and notes around the table count less.
 */
function scoreOf(rows: Rows, separator: Separator): number {
  const { width, count } = commonWidth(rows);
  const table = rows.filter((row) => row.length > 1);
  if (width < 2 || (table.length < 2 && !isTight(rows))) return 0;
  const share = count / (rows.findLastIndex(isWide) - rows.findIndex(isWide) + 1);
  const coverage = table.length / rows.length;
  // Sentences have commas too, in as many parts as it happens.
  if (share < 0.5 && coverage < 0.9) return 0;
  const cells = table.flat();
  const clean = cells.filter((cell) => !hasOther(cell, separator)).length / cells.length;
  return share * coverage * clean ** 2;
}

/** True for a title and one row, whose separators are those of no sentence. */
const isTight = (rows: Rows): boolean => rows.length < 3 && rows.flat().every((cell) => !cell.startsWith(" "));

const isWide = (row: string[]): boolean => row.length > 1;

const decimal = /^[^\d,]{0,4}[-+]?[\d.\s'’]*,\d+[^\d,]{0,4}$/;

/** True if a cell holds another separator that is no decimal comma: it may be cut at the wrong place. */
function hasOther(cell: string, separator: Separator): boolean {
  if (separator !== "," && decimal.test(cell.trim())) return false;
  return separators.some((other) => other !== separator && cell.includes(other) && !(other === "," && / /.test(cell)));
}

/** The most frequent number of cells among the rows of several, and in how many rows it occurs. */
export function commonWidth(rows: Rows): { width: number; count: number } {
  const counts = new Map<number, number>();
  for (const row of rows) if (row.length > 1) counts.set(row.length, (counts.get(row.length) ?? 0) + 1);
  let best = { width: 1, count: 0 };
  for (const [width, count] of counts)
    if (count > best.count || (count === best.count && width > best.width)) best = { width, count };
  return best;
}

// Each one is searched up to the end of the text.
const openQuotesMost = 20;

/** Splits text into rows of cells. */
function rowsOf(text: string, separator: string): Rows {
  const rows: Rows = [];
  let row: string[] = [];
  let openQuotes = 0;
  const endRow = () => {
    if (row.some((cell) => cell.trim() !== "")) rows.push(row);
    row = [];
  };
  const cellAt = (start: number): Cell => {
    let open = start;
    while (text[open] === " ") open++;
    if (text[open] !== '"' || openQuotes >= openQuotesMost) return bareAt(text, start, separator);
    const found = quotedAt(text, open, separator);
    if (found === "open") openQuotes++;
    return typeof found === "string" ? bareAt(text, start, separator) : found;
  };
  for (let at = 0; at < text.length; ) {
    const { value, end } = cellAt(at);
    row.push(value);
    at = end + 1;
    if (text[end] === "\n" || end >= text.length) endRow();
    // A separator at the end of the text ends an empty cell.
    else if (at >= text.length) row.push("");
  }
  endRow();
  return rows;
}

interface Cell {
  value: string;
  /** Position of the separator or line end behind the cell. */
  end: number;
}

function bareAt(text: string, start: number, separator: string): Cell {
  const end = endAfter(text, start, separator);
  return { value: text.slice(start, end), end };
}

function endAfter(text: string, from: number, separator: string): number {
  let end = from;
  while (end < text.length && text[end] !== separator && text[end] !== "\n") end++;
  return end;
}

/**
 * Reads a cell in quotes. A quote within it is doubled; one that was not stays if the cell ends on the same line. Text
 * after the closing quote belongs to the cell. Returns `open` if no quote ends the cell, and `sign` if the next one
 * begins a cell of a later row: then the quote is a sign, as in 5".
 */
function quotedAt(text: string, start: number, separator: string): Cell | "open" | "sign" {
  let quote = text.indexOf('"', start + 1);
  while (quote >= 0 && text[quote + 1] === '"') quote = text.indexOf('"', quote + 2);
  if (quote < 0) return "open";
  const valueTo = (end: number) => text.slice(start + 1, end).replaceAll('""', '"');
  const end = endAfter(text, quote + 1, separator);
  if (text.slice(quote + 1, end).trim() === "") return { value: valueTo(quote), end };
  const before = text[quote - 1];
  const isLater = text.slice(start, quote).includes("\n");
  if (isLater && (before === separator || before === "\n")) return "sign";
  const closing = closingOnLine(text, quote + 1, separator);
  if (closing !== null) return { value: valueTo(closing), end: endAfter(text, closing + 1, separator) };
  return { value: valueTo(quote) + text.slice(quote + 1, end), end };
}

// Each cell of a line is searched.
const looseCellMost = 1000;

/** Returns the next quote of this line that ends a cell, or null if a quote begins one before. */
function closingOnLine(text: string, from: number, separator: string): number | null {
  const last = Math.min(text.length, from + looseCellMost);
  for (let at = from; at < last && text[at] !== "\n"; at++) {
    if (text[at] !== '"') continue;
    const next = text[at + 1];
    if (next === undefined || next === separator || next === "\n") return at;
    if (text[at - 1] === separator) return null;
  }
  return null;
}
