import { requireValue } from "../../lib/require-value.ts";
import type { PdfLine } from "./pdf-lines.ts";
import { isOfSentence, marginLines } from "./pdf-margins.ts";

type Pages = readonly (readonly PdfLine[])[];

const edgeLines = 2;
const fewestPages = 3;
/** Tolerance for the height of a running head, as a fraction of the page's height. */
const heightTolerance = 0.004;

/**
 * Removes page numbers and repeated running heads. No other word is lost: a running head stays where it occurs first,
 * marked as one, and a line stays if it could be text. Only the first and last two lines of a page are considered, if
 * they are in the margin and apart from the text. A running head has the same height on most pages, and is no part of a
 * sentence. A line whose pattern also occurs inside a page (a table row, a list item) is never furniture.
 */
export function removeFurniture(pages: Pages, isTitle: (line: PdfLine) => boolean): PdfLine[][] {
  const bodies = new Set(pages.flatMap((page) => page.slice(edgeLines, -edgeLines)).map(patternOf));
  const marginGroups = new Map(pages.flatMap((page) => [...marginLines(page, edgesOf(page), isTitle)]));
  const isPageNumber = pageNumbers(pages);
  const isNumber = ({ text }: PdfLine): boolean => numberIn(text, pages.length) !== null;
  /**
   * Returns a line without its page number, or null if nothing else is left. With two possible numbers both are kept.
   */
  function headOf(line: PdfLine, at: number): string | null {
    const others = line.parts.filter((part) => !isPageNumber(part, line, at));
    return (line.parts.length - others.length > 1 ? line.parts : others).join(" ") || null;
  }
  const keyOf = (line: PdfLine, at: number): string => `${isTitle(line) ? "title" : "text"} ${headOf(line, at)}`;
  const seen = openPlaces<string>();
  for (const [at, page] of pages.entries()) for (const line of edgesOf(page)) seen.add(keyOf(line, at), line, at);

  /** True if a line has this place on most pages, or on most left or most right ones. */
  function isOnMost(line: PdfLine, at: number, fewest: number): boolean {
    const places = seen.at(keyOf(line, at), line);
    if (!places) return false;
    const [on, ofSide] = [places.pages.size, places.sides[at % 2] ?? 0];
    return (on >= fewest && on > pages.length / 2) || (ofSide >= fewestPages && ofSide > (pages.length + 1) / 4);
  }

  function isFurniture(line: PdfLine, at: number, fewest: number): boolean {
    const rows = marginGroups.get(line) ?? [];
    return isRepeated(line, at, fewest) && rows.every((row) => row === line || isRepeated(row, at, fewest));
  }

  function isRepeated(line: PdfLine, at: number, fewest: number): boolean {
    if (bodies.has(patternOf(line))) return false;
    const isApart = marginGroups.has(line);
    if (headOf(line, at) !== null) return isApart && !isOfSentence(line.text) && isOnMost(line, at, fewest);
    // With two lone numbers on a page, either could be the page number: keep both.
    return (namesPage(line.text) || (isApart && !isTitle(line))) && pages[at]?.filter(isNumber).length === 1;
  }

  const kept = new Set<string>();
  return pages.map((page, at) => {
    const isPlaced = (line: PdfLine): boolean => line.box !== null && marginGroups.has(line);
    const isEdge = furnitureTest(page, isPlaced, (line) => isFurniture(line, at, fewestPages));
    const isMarked = furnitureTest(page, isPlaced, (line) => isFurniture(line, at, isTitle(line) ? fewestPages : 2));
    return page.flatMap((line, index) => {
      const head = headOf(line, at);
      if (isEdge(index) && (head === null || kept.has(head))) return [];
      kept.add(head ?? "");
      return [isMarked(index) ? { ...line, isFurniture: true } : line];
    });
  });
}

/** Pages on which a line has the same height. */
interface Places {
  pages: Set<number>;
  /** Number of left and of right pages. */
  sides: [number, number];
}

/** Groups lines of one key by their height. */
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
      if (topOf(line) - top > heightTolerance) here = emptyPlaces();
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
    /**
     * Returns the pages with lines as high as this one (which must have been added), or of all heights if omitted. Call
     * it after all lines are added.
     */
    at(key: Key, line?: PdfLine): Places | undefined {
      const { all, of } = found.get(key) ?? gather(key);
      return line ? of.get(line) : all;
    },
  };
}

const emptyPlaces = (): Places => ({ pages: new Set(), sides: [0, 0] });

/**
 * Returns a test for the furniture lines of a page: consecutive ones from its first and last line, and in the margins
 * also single ones with a known box, because a page may draw them in any order.
 */
function furnitureTest(
  page: readonly PdfLine[],
  isPlaced: (line: PdfLine) => boolean,
  isFurniture: (line: PdfLine) => boolean,
): (index: number) => boolean {
  let [from, to] = [0, page.length];
  const isAt = (line: PdfLine | undefined): boolean => line !== undefined && isFurniture(line);
  while (from < Math.min(edgeLines, to) && isAt(page[from])) from++;
  while (to > Math.max(from, page.length - edgeLines) && isAt(page[to - 1])) to--;
  const placed = new Set<PdfLine | undefined>(edgesOf(page).filter((line) => isPlaced(line) && isFurniture(line)));
  return (index) => index < from || index >= to || placed.has(page[index]);
}

const edgesOf = (page: readonly PdfLine[]): PdfLine[] =>
  page.length <= 2 * edgeLines ? [...page] : [...page.slice(0, edgeLines), ...page.slice(-edgeLines)];

/** Returns the same key for lines that differ only in their numbers. */
const patternOf = ({ parts, size }: PdfLine): string =>
  `${Math.round(size)} ${parts.join(" ").slice(0, 200).replace(/\d+/g, "#")}`;

/**
 * Returns a test for page numbers: a part of an edge line that is only a number and increases with the pages, at the
 * same height, on three consecutive pages or on half of all; or "page" with the right number. A lone 3 on page 3 may be
 * text.
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
/** Matches "7", "- 7 -", "Page 7", "第7页", "vii": a number and at most the word for a page. */
const lone = new RegExp(
  `^(?:(?:${words})(?!\\p{L})\\.?\\s*|第\\s*)?[-–—[(]?\\s*(\\d{1,5}|[ivxlc]{1,8})\\s*[-–—\\])]?\\s*[页頁]?$`,
  "iu",
);
/** Matches "7/12", "Page 7 of 12" in any language: the second number must be the page count. */
const ofAll = /^(?:\p{L}+\.?\s*)?(\d{1,5})\s*(?:\/|\p{L}{1,4})\s*(\d{1,5})$/u;

/** Matches "Page 7", "7 of 12": a page number in any position. A lone number, or "Phase 1 of 3", may be text. */
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

/** Parses a Roman numeral; returns null if the letters are none. */
function romanNumber(letters: string): number | null {
  if (!/^c{0,3}(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})$/.test(letters)) return null;
  const digits = [...letters].map((letter) => requireValue(values[letter], letter));
  return digits.reduce((sum, digit, index) => sum + (digit < (digits[index + 1] ?? 0) ? -digit : digit), 0);
}
