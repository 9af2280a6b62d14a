import { lastItem } from "../../lib/collections.ts";
import { markdownTable } from "./markdown.ts";
import { isContents, type PdfCell, type PdfLine } from "./pdf-lines.ts";

type Span = Pick<PdfCell, "from" | "to">;

/** Consecutive lines whose cells are aligned in columns. */
export interface PdfTable {
  columns: readonly Span[];
  rows: Rows;
}

type Rows = readonly [PdfLine, ...PdfLine[]];

/** Splits the lines of a page into tables and other lines. */
export function tablesIn(lines: readonly PdfLine[], isTitle: (line: PdfLine) => boolean): (PdfTable | PdfLine)[] {
  const found: (PdfTable | PdfLine)[] = [];
  let next = 0;
  for (const [at, line] of lines.entries()) {
    if (at < next) continue;
    const table = tableAt(lines, at, isTitle);
    found.push(table ?? line);
    next = at + (table?.rows.length ?? 1);
  }
  return found;
}

/** Returns the longest table from this line on, or null if there is none. */
function tableAt(lines: readonly PdfLine[], start: number, isTitle: (line: PdfLine) => boolean): PdfTable | null {
  let columns: readonly Span[] = [];
  const found: PdfLine[] = [];
  for (let line = lines[start]; line; line = lines[start + found.length]) {
    const above = found.at(-1);
    if (line.cells.length < 2 || isContents(line.text) || isTitle(line) || (above && !isBelow(above, line))) break;
    const row = withRow(columns, line) ? line : splitAtColumns(line, columns);
    const wider = withRow(columns, row);
    if (!wider) break;
    columns = wider;
    found.push(row);
  }
  const [first, ...others] = found;
  // A numbered list also has its numbers apart from its items, but is no table.
  if (!first || others.length === 0) return null;
  const rows: Rows = [first, ...others];
  return rows.every(({ cells: [mark, ...cells] }) => cells.length === 1 && mark && isMark(mark.text))
    ? null
    : { columns, rows };
}

/** Splits cells that span several columns, which nearly touch where they are filled. */
function splitAtColumns(line: PdfLine, columns: readonly Span[]): PdfLine {
  const cells = line.cells.flatMap((cell) => {
    const [, ...later] = columns.filter((column) => overlap(column, cell));
    const words = line.words?.filter((word) => overlap(word, cell)) ?? [];
    const starts = later.map(({ from }) => wordAt(words, from, line.size));
    if (starts.length === 0 || starts.some((start) => start === null)) return [cell];
    const bounds = [0, ...starts.filter((start) => start !== null), words.length];
    const parts = bounds.slice(1).map((end, at) => words.slice(bounds[at], end));
    return parts.some((part) => part.length === 0) ? [cell] : parts.map(joinWords);
  });
  return { ...line, cells };
}

/** Returns the number of the word that starts there, or null if none starts within the width of a letter. */
function wordAt(words: readonly PdfCell[], from: number, size: number): number | null {
  const away = (at: number) => Math.abs((words[at]?.from ?? Infinity) - from);
  const nearest = words.reduce((best, _, at) => (away(at) < away(best) ? at : best), 0);
  return away(nearest) <= size ? nearest : null;
}

const joinWords = (words: readonly PdfCell[]): PdfCell => ({
  text: words.map(({ text }) => text).join(" "),
  from: Math.min(...words.map(({ from }) => from)),
  to: Math.max(...words.map(({ to }) => to)),
});

const isMark = (part: string): boolean => /^(?:[^\p{L}\p{N}\s]|\(?[\p{L}\p{N}.]{1,8}[.)])$/u.test(part);

const isBelow = (above: PdfLine, line: PdfLine): boolean =>
  !above.box ||
  !line.box ||
  (line.box[1] > above.box[1] && line.box[1] - above.box[3] < 3 * (line.box[3] - line.box[1]));

/** Merges another row into the columns. Returns null if a cell spans two columns, or two cells share one. */
function withRow(columns: readonly Span[], { cells }: PdfLine): Span[] | null {
  const joined = [...columns];
  const usedColumns = new Set<number>();
  for (const cell of cells) {
    const places = joined.flatMap((column, at) => (overlap(column, cell) ? [at] : []));
    const [place = joined.length] = places;
    if (places.length > 1 || usedColumns.has(place)) return null;
    usedColumns.add(place);
    const { from, to } = joined[place] ?? cell;
    joined[place] = { from: Math.min(from, cell.from), to: Math.max(to, cell.to) };
  }
  return joined.sort((a, b) => a.from - b.from);
}

const overlap = (one: Span, other: Span): boolean => one.from < other.to && other.from < one.to;

/** A table's header cells, and the columns of the rows below them. */
export interface TableHeader {
  columns: readonly Column[];
  cells: readonly string[];
}

/** A column below its header. */
interface Column extends Span {
  /** True if all its cells have digits, false if none has; null if some have, or it is empty. */
  isFigures: boolean | null;
}

/**
 * Formats a table as Markdown. If it continues the table `before` (same columns), it repeats that table's header. The
 * returned header is null if the first row is not certainly one.
 */
export function tableLines(found: PdfTable, before: TableHeader | null) {
  const table = before ? splitLike(found, before) : found;
  const { columns, rows } = table;
  const cells = rows.map(({ cells }) =>
    columns.map((column) => cells.find((cell) => overlap(column, cell))?.text ?? ""),
  );
  const isNew = isHeader(rows) || (before !== null && repeatsLabel(cells.flat(), before.cells));
  const names = before && !isNew ? namesFor(table, before) : null;
  const lines = markdownTable(names ? [names, ...cells] : cells).split("\n");
  const boxes = [...(names ? [null] : []), ...rows.map(({ box }) => box)];
  return {
    lines: lines.map((text, at) => ({ text, box: at === 1 ? null : (boxes[Math.max(0, at - 1)] ?? null) })),
    header: names ? before : headerOf(table, cells),
  };
}

/** Splits cells at the columns of the table that this one continues, whose header tells them apart. */
function splitLike(table: PdfTable, before: TableHeader): PdfTable {
  if (table.columns.length >= before.columns.length) return table;
  const [first, ...others] = table.rows.map((row) => splitAtColumns(row, before.columns));
  if (!first) return table;
  const rows: Rows = [first, ...others];
  const columns = rows.reduce<readonly Span[] | null>((all, row) => all && withRow(all, row), []);
  return columns ? { columns, rows } : table;
}

/**
 * Returns the first row if it is certainly a header. Null if another row repeats one of its words, as rows of records
 * do.
 */
function headerOf({ columns, rows }: PdfTable, [header = [], ...others]: readonly (readonly string[])[]) {
  if (!isHeader(rows) || repeatsLabel(others.flat(), header)) return null;
  return { columns: columns.map((column) => columnIn(rows.slice(1), column)), cells: header };
}

const hasDigit = (text: string): boolean => /\p{N}/u.test(text);

/** True if one of these texts equals a word of the row. */
function repeatsLabel(texts: readonly string[], row: readonly string[]): boolean {
  const all = new Set(texts);
  return row.some((text) => /\p{L}/u.test(text) && all.has(text));
}

/** True if the first row is certainly a header: in another font, or words above numbers. */
function isHeader(rows: Rows): boolean {
  const [first, ...others] = rows;
  if (isSetApart(rows)) return true;
  if (first.cells.some(({ text }) => hasDigit(text))) return false;
  return first.cells.some((cell) => {
    const below = others.flatMap(({ cells }) => cells.filter((other) => overlap(cell, other)));
    return below.length > 0 && below.every(({ text }) => hasDigit(text));
  });
}

/** True if no other row has a font of the first row. */
function isSetApart([{ fonts: own = [] }, ...others]: Rows): boolean {
  const fonts = new Set(others.flatMap(({ fonts = [] }) => fonts));
  return own.length > 0 && own.every((font) => !fonts.has(font));
}

function columnIn(rows: readonly PdfLine[], column: Span): Column {
  const parts = rows.flatMap(({ cells }) => cells.filter((cell) => overlap(column, cell)));
  if (parts.length === 0) return { ...column, isFigures: null };
  const figures = parts.filter(({ text }) => hasDigit(text)).length;
  return {
    from: Math.min(...parts.map(({ from }) => from)),
    to: Math.max(...parts.map(({ to }) => to)),
    isFigures: figures === parts.length ? true : figures === 0 ? false : null,
  };
}

/**
 * Returns the column names from the table before, or null if the columns do not align. With three columns or more, one
 * may be empty on this page, or one may be added, as beside a total.
 */
function namesFor({ columns, rows }: PdfTable, { columns: others, cells }: TableHeader): string[] | null {
  const near = rows[0].size / 4;
  const places = columns
    .map((column) => columnIn(rows, column))
    .map((column) => others.findIndex((other) => isAligned(column, other, near) && mayBeSame(column, other)));
  const same = places.filter((place) => place >= 0);
  if (new Set(same).size < same.length || same.length < Math.min(3, others.length)) return null;
  const isSame = same.length === columns.length || (same.length === others.length && same.length >= 3);
  return isSame ? places.map((place) => cells[place] ?? "") : null;
}

const mayBeSame = ({ isFigures }: Column, other: Column): boolean =>
  isFigures === null || other.isFigures === null || isFigures === other.isFigures;

/** True if the columns are left-aligned, right-aligned or centered. */
const isAligned = (one: Span, other: Span, near: number): boolean =>
  overlap(one, other) &&
  [one.from - other.from, one.to - other.to, (one.from + one.to - other.from - other.to) / 2].some(
    (away) => Math.abs(away) <= near,
  );

/** A table that a page break splits reaches below `lowest` on its page and begins above `highest` on the next. */
const [lowest, highest] = [2 / 3, 1 / 3];

/**
 * True if the last table of a page may continue as the first of the next: only furniture is between them, and the next
 * page does not begin like a table of this page, which would be another record.
 */
export function mayContinue(page: readonly (PdfTable | PdfLine)[], next: readonly (PdfTable | PdfLine)[]): boolean {
  const last = page.findLast((one) => !isFurniture(one));
  const first = next.find((one) => !isFurniture(one));
  if (!last || !first || !("rows" in last) || !("rows" in first)) return false;
  const [above, below] = [lastItem(last.rows).box, first.rows[0].box];
  if ((above && above[3] < lowest) || (below && below[1] > highest)) return false;
  const begins = page.flatMap((one) => ("rows" in one ? textsIn(one.rows[0]) : []));
  return !repeatsLabel(begins, textsIn(first.rows[0]));
}

const textsIn = ({ cells }: PdfLine): string[] => cells.map(({ text }) => text);

const isFurniture = (one: PdfTable | PdfLine): boolean =>
  "rows" in one ? one.rows.every((line) => line.isFurniture) : one.isFurniture === true;
