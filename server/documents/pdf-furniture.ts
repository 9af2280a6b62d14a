import type { PdfLine } from "./pdf-lines.ts";

type Pages = readonly (readonly PdfLine[])[];

const edgeLines = 2;
const fewestPages = 3;

/**
 * Pages without their page numbers and repeated running heads. No word is lost but page numbers: a running head stays
 * where it stands first, and a line stays whenever it could be text. Furniture is only looked for among the first and
 * last two lines of a page; a line whose pattern also occurs inside the body of a page (a row of a table, an item of a
 * list) is never furniture.
 */
export function withoutFurniture(pages: Pages, isTitle: (line: PdfLine) => boolean): PdfLine[][] {
  const bodies = new Set(pages.flatMap((page) => page.slice(edgeLines, -edgeLines)).map(patternOf));
  const isPageNumber = pageNumbers(pages);
  const isNumber = ({ text }: PdfLine): boolean => numberIn(text, pages.length) !== null;
  /** A line without the page number in it; null where nothing else is left. Of two numbers nobody knows which it is. */
  function headOf({ parts }: PdfLine, at: number): string | null {
    const others = parts.filter((part) => !isPageNumber(part, at));
    return (parts.length - others.length > 1 ? parts : others).join(" ") || null;
  }
  const keyOf = (line: PdfLine, at: number): string => `${isTitle(line) ? "title" : "text"} ${headOf(line, at)}`;
  const seen = new Map<string, number>();
  for (const [at, page] of pages.entries())
    for (const key of new Set(edgesOf(page).map((line) => keyOf(line, at)))) seen.set(key, (seen.get(key) ?? 0) + 1);

  function isFurniture(line: PdfLine, at: number): boolean {
    if (bodies.has(patternOf(line))) return false;
    // Of two lone numbers nobody knows which one is the page's.
    if (headOf(line, at) === null)
      return (!isTitle(line) || saysPage(line.text)) && pages[at]!.filter(isNumber).length === 1;
    const fewest = isTitle(line) ? Math.max(fewestPages, pages.length / 2) : fewestPages;
    return seen.get(keyOf(line, at))! >= fewest;
  }

  const kept = new Set<string>();
  return pages.map((page, at) => {
    let [from, to] = [0, page.length];
    while (from < Math.min(edgeLines, to) && isFurniture(page[from]!, at)) from++;
    while (to > Math.max(from, page.length - edgeLines) && isFurniture(page[to - 1]!, at)) to--;
    return page.filter((line, index) => {
      const head = headOf(line, at);
      const stays = (from <= index && index < to) || (head !== null && !kept.has(head));
      if (stays) kept.add(head ?? "");
      return stays;
    });
  });
}

const edgesOf = (page: readonly PdfLine[]): PdfLine[] =>
  page.length <= 2 * edgeLines ? [...page] : [...page.slice(0, edgeLines), ...page.slice(-edgeLines)];

/** A large number may be a title, and one with the word for a page is none. */
const saysPage = (text: string): boolean => /[^\P{L}ivxlc]/iu.test(text);

/** The same for lines that differ in their numbers only. */
const patternOf = ({ parts, size }: PdfLine): string =>
  `${Math.round(size)} ${parts.join(" ").slice(0, 200).replace(/\d+/g, "#")}`;

/**
 * Tells page numbers: parts of lines at the edges that are nothing but a number, and count as the pages do on three pages
 * that follow one another or on half of them, or say "page" and the number of theirs. A lone 3 on the third page alone
 * may be what that page says.
 */
function pageNumbers(pages: Pages): (part: string, at: number) => boolean {
  const numberOf = (part: string) => numberIn(part, pages.length);
  const counted = new Map<number, Set<number>>();
  for (const [at, page] of pages.entries()) {
    for (const { parts } of edgesOf(page)) {
      for (const number of parts.map(numberOf)) {
        if (number !== null) counted.set(number - at, (counted.get(number - at) ?? new Set()).add(at));
      }
    }
  }
  const most = Math.max(2, Math.min(fewestPages, pages.length), pages.length / 2);
  return (part, at) => {
    const number = numberOf(part);
    const on = number === null ? undefined : counted.get(number - at);
    if (!on) return false;
    const isInRow = [-2, -1, 0].some((from) => [0, 1, 2].every((next) => on.has(at + from + next)));
    return isInRow || on.size >= most || (number === at + 1 && saysPage(part));
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
