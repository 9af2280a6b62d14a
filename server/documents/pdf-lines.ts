/** A line of a page. */
export interface PdfLine {
  text: string;
  /** Height of its letters. */
  size: number;
  /** Whether more room is above it than between the lines of a paragraph. */
  apart: boolean;
}

const edgeLines = 2;
const fewestPages = 3;

/**
 * Pages without their page numbers and running titles: lines at the top or the bottom that are, but for their numbers,
 * on several pages, or are short and count as the pages do. What is set like a title must be on most pages: a chapter's
 * title may well be there twice.
 */
export function withoutFurniture(
  pages: readonly (readonly PdfLine[])[],
  isTitle: (line: PdfLine) => boolean,
): PdfLine[][] {
  const seen = new Map<string, number>();
  // The title of a document stays, though it runs over its pages in small.
  const keyOf = (line: PdfLine): string => `${isTitle(line) ? "title" : "text"} ${withoutNumbers(line.text)}`;
  for (const page of pages)
    for (const key of new Set(edgesOf(page).map(keyOf))) seen.set(key, (seen.get(key) ?? 0) + 1);
  const first = firstNumber(pages);
  const isFurniture = (line: PdfLine, at: number): boolean => {
    const fewest = isTitle(line) ? Math.max(fewestPages, pages.length / 2) : fewestPages;
    if (line.text.trim() === String(at + 1) || (seen.get(keyOf(line)) ?? 0) >= fewest) return true;
    return first !== null && !isTitle(line) && numbersOf(line).includes(at + first);
  };
  return pages.map((page, at) => {
    let [from, to] = [0, page.length];
    while (from < Math.min(edgeLines, to) && isFurniture(page[from]!, at)) from++;
    while (to > Math.max(from, page.length - edgeLines) && isFurniture(page[to - 1]!, at)) to--;
    return page.slice(from, to);
  });
}

const edgesOf = (page: readonly PdfLine[]): PdfLine[] => [...page.slice(0, edgeLines), ...page.slice(-edgeLines)];

/** What the first page would have as its number, as most pages count; null where they do not. */
function firstNumber(pages: readonly (readonly PdfLine[])[]): number | null {
  const votes = new Map<number, number>();
  for (const [at, page] of pages.entries())
    for (const first of new Set(
      edgesOf(page)
        .flatMap(numbersOf)
        .map((number) => number - at),
    ))
      votes.set(first, (votes.get(first) ?? 0) + 1);
  const [most, count] = [...votes].reduce((best, one) => (one[1] > best[1] ? one : best), [0, 0]);
  return count >= Math.max(fewestPages, pages.length / 2) ? most : null;
}

const runningTitle_chars = 100;

/** At either end of a line that may be a running title. */
const numbersOf = ({ text }: PdfLine): number[] =>
  text.length > runningTitle_chars ? [] : (text.trim().match(/^\d{1,5}(?= |$)|(?<= )\d{1,5}$/g) ?? []).map(Number);

/** The same for lines that differ in a page's number only, be it Roman. */
const withoutNumbers = (text: string): string =>
  text
    .trim()
    .slice(0, 200)
    .replace(/\d+/g, "#")
    .replace(/^[ivxlc]{1,8}$/i, "#");

/** The dots that lead to a page's number in a table of contents. */
const leader = / … (?:\d{1,5}|[ivxlc]{1,8})$/i;

/** Whether a line is one of a table of contents. */
export const isContents = (text: string): boolean => leader.test(text);

/** A long row of dots says no more than a short one. */
export const withoutLeaders = (text: string): string => text.replace(/(?:[ \t]?[.·_]){5,}[ \t]?/g, " … ").trimEnd();

/** Words that are written with a hyphen somewhere within a line. */
export function hyphenatedWords(pages: readonly (readonly PdfLine[])[]): Set<string> {
  const words = new Set<string>();
  for (const { text } of pages.flat())
    for (const [word] of text.matchAll(/\p{L}+-\p{L}+/gu)) words.add(word.toLowerCase());
  return words;
}

/** Lines of a paragraph, in which a word that was cut at a line's end is whole again. */
export function joinLines(lines: readonly string[], hyphenated: ReadonlySet<string>): string {
  const joined: string[] = [];
  for (const line of lines) {
    const before = joined.at(-1) ?? "";
    const [, head] = /(\p{L}{2,40})[-\u00ad\u2010]$/u.exec(before.slice(-42)) ?? [];
    const [tail] = (head && /^\p{Ll}\p{L}{0,40}/u.exec(line)) || [];
    if (!head || !tail) joined.push(line);
    else joined[joined.length - 1] = before.slice(0, hyphenated.has(wordOf(head, tail)) ? undefined : -1) + line;
  }
  return joined.join("\n");
}

const wordOf = (head: string, tail: string): string => `${head}-${tail}`.toLowerCase();
