import { markdownTable } from "./markdown.ts";
import { isContents, type PdfCell, type PdfLine } from "./pdf-lines.ts";

type Span = Pick<PdfCell, "from" | "to">;

/** Lines one below the other whose parts stand in columns. */
export interface PdfTable {
  columns: readonly Span[];
  rows: readonly PdfLine[];
}

/** The lines of a page as tables, and what is none. */
export function tablesIn(lines: readonly PdfLine[], isTitle: (line: PdfLine) => boolean): (PdfTable | PdfLine)[] {
  const found: (PdfTable | PdfLine)[] = [];
  for (let at = 0; at < lines.length; ) {
    const table = tableAt(lines, at, isTitle);
    if (table) found.push(table);
    else found.push(lines[at]!);
    at += table?.rows.length ?? 1;
  }
  return found;
}

/** The longest table from a line on; null where there is none. */
function tableAt(lines: readonly PdfLine[], start: number, isTitle: (line: PdfLine) => boolean): PdfTable | null {
  let columns: readonly Span[] = [];
  let end = start;
  for (; end < lines.length; end++) {
    const line = lines[end]!;
    if (
      line.cells.length < 2 ||
      isContents(line.text) ||
      isTitle(line) ||
      (end > start && !isBelow(lines[end - 1]!, line))
    )
      break;
    const wider = withRow(columns, line);
    if (!wider) break;
    columns = wider;
  }
  const rows = lines.slice(start, end);
  // The numbers of a list stand apart from its items too.
  if (rows.length < 2 || rows.every(({ cells }) => cells.length === 2 && isMark(cells[0]!.text))) return null;
  return { columns, rows };
}

const isMark = (part: string): boolean => /^(?:[^\p{L}\p{N}\s]|\(?[\p{L}\p{N}.]{1,8}[.)])$/u.test(part);

const isBelow = (above: PdfLine, line: PdfLine): boolean =>
  !above.box ||
  !line.box ||
  (line.box[1] > above.box[1] && line.box[1] - above.box[3] < 3 * (line.box[3] - line.box[1]));

/** The columns with those of another row; null where a part reaches over two, or two parts are in one. */
function withRow(columns: readonly Span[], { cells }: PdfLine): Span[] | null {
  const joined = [...columns];
  const taken = new Set<number>();
  for (const cell of cells) {
    const places = joined.flatMap((column, at) => (overlap(column, cell) ? [at] : []));
    const [place = joined.length] = places;
    if (places.length > 1 || taken.has(place)) return null;
    taken.add(place);
    const { from, to } = joined[place] ?? cell;
    joined[place] = { from: Math.min(from, cell.from), to: Math.max(to, cell.to) };
  }
  return joined.sort((a, b) => a.from - b.from);
}

const overlap = (one: Span, other: Span): boolean => one.from < other.to && other.from < one.to;

/** What a table's columns are called, and where the rows below that stand. */
export interface TableHeader {
  columns: readonly Column[];
  cells: readonly string[];
}

/** A column below its header. */
interface Column extends Span {
  /** Whether all that stands in it has figures, or nothing; null where some has. */
  isFigures: boolean | null;
}

/**
 * A table as Markdown. Where the table before may go on in it, and its columns stand where that has them, the header of
 * that is its own too. The header that is given back is null where the first row cannot be told from the others.
 */
export function tableLines(table: PdfTable, before: TableHeader | null) {
  const { columns, rows } = table;
  const cells = rows.map(({ cells }) =>
    columns.map((column) => cells.find((cell) => overlap(column, cell))?.text ?? ""),
  );
  const isNew = isHeader(rows) || (before !== null && haveLabelOf(cells.flat(), before.cells));
  const names = before && !isNew ? namesFor(table, before) : null;
  const lines = markdownTable(names ? [names, ...cells] : cells).split("\n");
  const boxes = [...(names ? [null] : []), ...rows.map(({ box }) => box)];
  return {
    lines: lines.map((text, at) => ({ text, box: at === 1 ? null : boxes[Math.max(0, at - 1)]! })),
    header: names ? before : headerOf(table, cells),
  };
}

/** The first row, where it is certainly a header, and no other row has one of its words, as rows of records have. */
function headerOf({ columns, rows }: PdfTable, [header = [], ...others]: readonly (readonly string[])[]) {
  if (!isHeader(rows) || haveLabelOf(others.flat(), header)) return null;
  return { columns: columns.map((column) => columnIn(rows.slice(1), column)), cells: header };
}

const hasDigit = (text: string): boolean => /\p{N}/u.test(text);

/** Whether one of these texts is a word of a row. */
function haveLabelOf(texts: readonly string[], row: readonly string[]): boolean {
  const all = new Set(texts);
  return row.some((text) => /\p{L}/u.test(text) && all.has(text));
}

/** Whether the first row is certainly a header: in another font, or words above figures. */
function isHeader(rows: readonly PdfLine[]): boolean {
  const [first, ...others] = rows;
  if (isSetApart(rows)) return true;
  if (first!.cells.some(({ text }) => hasDigit(text))) return false;
  return first!.cells.some((cell) => {
    const below = others.flatMap(({ cells }) => cells.filter((other) => overlap(cell, other)));
    return below.length > 0 && below.every(({ text }) => hasDigit(text));
  });
}

/** Whether the first row has fonts that no other has. */
function isSetApart([first, ...others]: readonly PdfLine[]): boolean {
  const fonts = new Set(others.flatMap(({ fonts = [] }) => fonts));
  return (first?.fonts ?? []).length > 0 && first!.fonts!.every((font) => !fonts.has(font));
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
 * What these columns are called in the table before; null where they do not stand as they do there. Of three that do, one
 * may be empty on this page, or one more be there, as beside a sum.
 */
function namesFor({ columns, rows }: PdfTable, { columns: others, cells }: TableHeader): string[] | null {
  const near = rows[0]!.size / 4;
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

/** To the left, to the right, or in the middle. */
const isAligned = (one: Span, other: Span, near: number): boolean =>
  overlap(one, other) &&
  [one.from - other.from, one.to - other.to, (one.from + one.to - other.from - other.to) / 2].some(
    (away) => Math.abs(away) <= near,
  );

/** A table that a page's end cuts has the lowest part of the page, and the highest of the next. */
const [lowest, highest] = [2 / 3, 1 / 3];

/**
 * Whether the last table of a page may go on in the first of the next: nothing but furniture stands between them, and
 * the next page does not begin as a table of this one does, which is a record after another.
 */
export function mayGoOn(page: readonly (PdfTable | PdfLine)[], next: readonly (PdfTable | PdfLine)[]): boolean {
  const last = page.findLast((one) => !isFurniture(one));
  const first = next.find((one) => !isFurniture(one));
  if (!last || !first || !("rows" in last) || !("rows" in first)) return false;
  const [above, below] = [last.rows.at(-1)!.box, first.rows[0]!.box];
  if ((above && above[3] < lowest) || (below && below[1] > highest)) return false;
  const begins = page.flatMap((one) => ("rows" in one ? textsIn(one.rows[0]!) : []));
  return !haveLabelOf(begins, textsIn(first.rows[0]!));
}

const textsIn = ({ cells }: PdfLine): string[] => cells.map(({ text }) => text);

const isFurniture = (one: PdfTable | PdfLine): boolean =>
  "rows" in one ? one.rows.every((line) => line.isFurniture) : one.isFurniture === true;
