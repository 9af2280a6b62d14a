/** A line of a page. */
export interface PdfLine {
  text: string;
  /** Its text, parted where there is more room than between words: the cells of a row, the ends of a running head. */
  parts: readonly string[];
  /** Height of its letters. */
  size: number;
  /** Whether more room is above it than between the lines of a paragraph. */
  apart: boolean;
}

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
