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

/** What a table's columns are called, and where they are. */
export interface TableHeader {
  columns: readonly Span[];
  cells: readonly string[];
}

/** A table as Markdown. One that goes on from the page before has the header there, unless it was printed once more. */
export function tableLines({ columns, rows }: PdfTable, before: TableHeader | null) {
  const cells = rows.map(({ cells }) =>
    columns.map((column) => cells.find((cell) => overlap(column, cell))?.text ?? ""),
  );
  const header = (before && headerFor(columns, before)) ?? cells[0]!;
  const isPrinted = header.join("|") === cells[0]!.join("|");
  const boxes = [...(isPrinted ? [] : [null]), ...rows.map(({ box }) => box)];
  const lines = markdownTable(isPrinted ? cells : [header, ...cells]).split("\n");
  return {
    lines: lines.map((text, at) => ({ text, box: at === 1 ? null : boxes[Math.max(0, at - 1)]! })),
    header: { columns, cells: header },
  };
}

/** What these columns are called in the table before; null where they are others. */
function headerFor(columns: readonly Span[], before: TableHeader): string[] | null {
  const places = columns.map((column) => before.columns.findIndex((one) => overlap(column, one)));
  const same = new Set(places.filter((place) => place >= 0)).size;
  const isSame = same >= 2 && same >= Math.min(columns.length, before.columns.length);
  return isSame ? places.map((place) => before.cells[place] ?? "") : null;
}
