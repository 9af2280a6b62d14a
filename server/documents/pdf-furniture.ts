import type { PdfLine } from "./pdf-lines.ts";
import { isOfSentence, marginLines } from "./pdf-margins.ts";

type Pages = readonly (readonly PdfLine[])[];

const edgeLines = 2;
const fewestPages = 3;
/** A running head stands at the same height on each page, but for this part of the page's height. */
const shift = 0.004;

/**
 * Pages without their page numbers and repeated running heads. No word is lost but page numbers: a running head stays
 * where it stands first, marked as one, and a line stays whenever it could be text. Furniture is only looked for among
 * the first and last two lines of a page, in the margin and apart from the text. A running head stands at the same height
 * on most pages, and is no part of a sentence. A line whose pattern also occurs inside the body of a page (a row of a
 * table, an item of a list) is never furniture.
 */
export function withoutFurniture(pages: Pages, isTitle: (line: PdfLine) => boolean): PdfLine[][] {
  const bodies = new Set(pages.flatMap((page) => page.slice(edgeLines, -edgeLines)).map(patternOf));
  const apart = new Map(pages.flatMap((page) => [...marginLines(page, edgesOf(page), isTitle)]));
  const isPageNumber = pageNumbers(pages);
  const isNumber = ({ text }: PdfLine): boolean => numberIn(text, pages.length) !== null;
  /** A line without the page number in it; null where nothing else is left. Of two numbers nobody knows which it is. */
  function headOf(line: PdfLine, at: number): string | null {
    const others = line.parts.filter((part) => !isPageNumber(part, line, at));
    return (line.parts.length - others.length > 1 ? line.parts : others).join(" ") || null;
  }
  const keyOf = (line: PdfLine, at: number): string => `${isTitle(line) ? "title" : "text"} ${headOf(line, at)}`;
  const seen = openPlaces<string>();
  for (const [at, page] of pages.entries()) for (const line of edgesOf(page)) seen.add(keyOf(line, at), line, at);

  /** Whether a line stands at its place on most pages, or on most left or most right ones. */
  function isOnMost(line: PdfLine, at: number, fewest: number): boolean {
    const places = seen.at(keyOf(line, at), line);
    if (!places) return false;
    const [on, ofSide] = [places.pages.size, places.sides[at % 2]!];
    return (on >= fewest && on > pages.length / 2) || (ofSide >= fewestPages && ofSide > (pages.length + 1) / 4);
  }

  function isFurniture(line: PdfLine, at: number, fewest: number): boolean {
    const rows = apart.get(line) ?? [];
    return isRepeated(line, at, fewest) && rows.every((row) => row === line || isRepeated(row, at, fewest));
  }

  function isRepeated(line: PdfLine, at: number, fewest: number): boolean {
    if (bodies.has(patternOf(line))) return false;
    const isApart = apart.has(line);
    if (headOf(line, at) !== null) return isApart && !isOfSentence(line.text) && isOnMost(line, at, fewest);
    // Of two lone numbers nobody knows which one is the page's.
    return (namesPage(line.text) || (isApart && !isTitle(line))) && pages[at]!.filter(isNumber).length === 1;
  }

  const kept = new Set<string>();
  return pages.map((page, at) => {
    const isPlaced = (line: PdfLine): boolean => line.box !== null && apart.has(line);
    const isEdge = edgesWith(page, isPlaced, (line) => isFurniture(line, at, fewestPages));
    const isMarked = edgesWith(page, isPlaced, (line) => isFurniture(line, at, isTitle(line) ? fewestPages : 2));
    return page.flatMap((line, index) => {
      const head = headOf(line, at);
      if (isEdge(index) && (head === null || kept.has(head))) return [];
      kept.add(head ?? "");
      return [isMarked(index) ? { ...line, isFurniture: true } : line];
    });
  });
}

/** Pages on which a line stands at the same height. */
interface Places {
  pages: Set<number>;
  /** How many of them are left and right ones. */
  sides: [number, number];
}

/** Gathers lines of one key by their height. */
function openPlaces<Key>() {
  const added = new Map<Key, { line: PdfLine; page: number }[]>();
  const found = new Map<Key, { all: Places; of: Map<PdfLine, Places> }>();
  const note = ({ pages, sides }: Places, page: number): void => {
    if (!pages.has(page)) sides[page % 2]!++;
    pages.add(page);
  };
  function gather(key: Key) {
    const all = emptyPlaces();
    const of = new Map<PdfLine, Places>();
    let [here, top] = [emptyPlaces(), 0];
    const topOf = ({ box }: PdfLine) => box?.[1] ?? 0;
    for (const { line, page } of (added.get(key) ?? []).sort((a, b) => topOf(a.line) - topOf(b.line))) {
      if (topOf(line) - top > shift) here = emptyPlaces();
      top = topOf(line);
      of.set(line, here);
      for (const places of [here, all]) note(places, page);
    }
    found.set(key, { all, of });
    return { all, of };
  }
  return {
    add(key: Key, line: PdfLine, page: number): void {
      const lines = added.get(key) ?? [];
      lines.push({ line, page });
      added.set(key, lines);
    },
    /** Of the lines that stand as high as this one, which was added. Without one, of all. To be asked when all are added. */
    at(key: Key, line?: PdfLine): Places | undefined {
      const { all, of } = found.get(key) ?? gather(key);
      return line ? of.get(line) : all;
    },
  };
}

const emptyPlaces = (): Places => ({ pages: new Set(), sides: [0, 0] });

/**
 * Tells the lines of a page that are furniture: all from the first or the last one on, and at its edges those whose place
 * is sure, in whatever order the page draws them.
 */
function edgesWith(
  page: readonly PdfLine[],
  isPlaced: (line: PdfLine) => boolean,
  isFurniture: (line: PdfLine) => boolean,
): (index: number) => boolean {
  let [from, to] = [0, page.length];
  while (from < Math.min(edgeLines, to) && isFurniture(page[from]!)) from++;
  while (to > Math.max(from, page.length - edgeLines) && isFurniture(page[to - 1]!)) to--;
  const placed = new Set(edgesOf(page).filter((line) => isPlaced(line) && isFurniture(line)));
  return (index) => index < from || index >= to || placed.has(page[index]!);
}

const edgesOf = (page: readonly PdfLine[]): PdfLine[] =>
  page.length <= 2 * edgeLines ? [...page] : [...page.slice(0, edgeLines), ...page.slice(-edgeLines)];

/** The same for lines that differ in their numbers only. */
const patternOf = ({ parts, size }: PdfLine): string =>
  `${Math.round(size)} ${parts.join(" ").slice(0, 200).replace(/\d+/g, "#")}`;

/**
 * Tells page numbers: parts of lines at the edges that are nothing but a number, and count as the pages do on three pages
 * that follow one another or on half of them, at the same height; or say "page" and the number of theirs. A lone 3 on the
 * third page alone may be what that page says.
 */
function pageNumbers(pages: Pages): (part: string, line: PdfLine, at: number) => boolean {
  const numberOf = (part: string) => numberIn(part, pages.length);
  const counted = openPlaces<number>();
  for (const [at, page] of pages.entries()) {
    for (const line of edgesOf(page)) {
      for (const number of line.parts.map(numberOf)) if (number !== null) counted.add(number - at, line, at);
    }
  }
  const most = Math.max(2, Math.min(fewestPages, pages.length), pages.length / 2);
  return (part, line, at) => {
    const number = numberOf(part);
    if (number === null) return false;
    const on = counted.at(number - at, namesPage(part) ? undefined : line)?.pages;
    if (!on) return false;
    const isInRow = [-2, -1, 0].some((from) => [0, 1, 2].every((next) => on.has(at + from + next)));
    return isInRow || on.size >= most || (number === at + 1 && namesPage(part));
  };
}

const words = "page|pg|p|seite|s|página|pág|pagina|pag|side|sida|sivu|strona|str|стр|страница|oldal|lk";
/** "7", "- 7 -", "Page 7", "第7页", "vii": a number and, at most, the word for a page. */
const lone = new RegExp(
  `^(?:(?:${words})(?!\\p{L})\\.?\\s*|第\\s*)?[-–—[(]?\\s*(\\d{1,5}|[ivxlc]{1,8})\\s*[-–—\\])]?\\s*[页頁]?$`,
  "iu",
);
/** "7/12", "Page 7 of 12", in any language: the second number is how many pages there are. */
const ofAll = /^(?:\p{L}+\.?\s*)?(\d{1,5})\s*(?:\/|\p{L}{1,4})\s*(\d{1,5})$/u;

/** "Page 7", "7 of 12": a page's number wherever it stands. A lone number, or "Phase 1 of 3", may be text. */
const names = new RegExp(
  `^(?:(?:${words})(?!\\p{L})(?<!^\\p{L})\\.?\\s*[-–—(]?\\s*\\d|第|.*[页頁]$|\\d+\\s*(?:of|von|de|di|du|sur|van|af|av|od|z|из)\\s*\\d)`,
  "iu",
);
const namesPage = (text: string): boolean => names.test(text.trim());

function numberIn(part: string, pages: number): number | null {
  const text = part.trim();
  const [, number, count] = ofAll.exec(text) ?? [];
  if (number && Number(count) === pages) return Number(number);
  const [, found] = lone.exec(text) ?? [];
  if (!found) return null;
  return /^\d/.test(found) ? Number(found) : romanNumber(found.toLowerCase());
}

const values: Record<string, number> = { i: 1, v: 5, x: 10, l: 50, c: 100 };

/** A Roman number as printers write it; null for letters that are none. */
function romanNumber(letters: string): number | null {
  if (!/^c{0,3}(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})$/.test(letters)) return null;
  const digits = [...letters].map((letter) => values[letter]!);
  return digits.reduce((sum, digit, index) => sum + (digit < (digits[index + 1] ?? 0) ? -digit : digit), 0);
}
