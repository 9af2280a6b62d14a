import { around, type Box, type PlacedLine } from "./boxes.ts";
import { raisedEnd, raisedStart, withRaised } from "./raised.ts";

/** A line of a page. */
export interface PdfLine extends PlacedLine {
  /** Its text, parted where there is more room than between words: the cells of a row, the ends of a running head. */
  parts: readonly string[];
  /** The same, parted where there is a little room too: what is a table if lines below have it at the same places. */
  cells: readonly PdfCell[];
  /** Height of most of its letters. */
  size: number;
  /** Whether more room is above it than between the lines of a paragraph. */
  apart: boolean;
  /** The fonts that it is set in. */
  fonts?: readonly string[];
  /** Whether it is a running head or foot, which pages repeat. */
  isFurniture?: boolean;
}

/** What stands in a line from one place to another, from left to right. */
export interface PdfCell {
  text: string;
  from: number;
  to: number;
}

/** What a page draws at once. */
export interface PdfItem {
  str: string;
  width: number;
  height: number;
  transform: number[];
  hasEOL: boolean;
  fontName?: string;
}

/** The lines of a page, in the order in which it draws them. */
export function linesFrom(items: readonly PdfItem[], boxOf: (item: PdfItem) => Box): PdfLine[] {
  const lines: PdfLine[] = [];
  let held: PdfItem[] = [];
  let above: { y: number; size: number } | null = null;
  const end = () => {
    const drawn = marked(held);
    held = [];
    const shown = drawn.filter(({ str }) => str.trim() !== "");
    if (shown.length === 0) return;
    const size = sizeOf(shown);
    const y = baseOf(shown, size).transform[5] ?? 0;
    const apart = above !== null && Math.abs(above.y - y) > 1.7 * Math.max(size, above.size);
    above = { y, size };
    lines.push({
      text: withoutLeaders(
        withRaised(drawn.map((item, at) => `${isBefore(item, drawn[at - 1]) ? " " : ""}${item.str}`).join("")),
      ),
      parts: cellsOf(shown, 1.5).map(({ text }) => text),
      cells: cellsOf(shown, 0.7),
      size,
      apart,
      fonts: [...new Set(shown.map(({ fontName = "" }) => fontName))],
      box: shown.map(boxOf).reduce<Box | null>(around, null),
    });
  };
  for (const item of items) {
    held.push(item);
    if (item.hasEOL) end();
  }
  end();
  return lines;
}

/** Whether it stands well to the left of what is drawn before it, as the left end of a foot whose right end comes first. */
const isBefore = ({ str, transform, width, height }: PdfItem, last: PdfItem | undefined): boolean =>
  last !== undefined &&
  str.trim() !== "" &&
  (last.transform[4] ?? 0) - (transform[4] ?? 0) - width > 1.5 * Math.max(height, last.height);

/** The height that most letters of a line have. */
function sizeOf(items: readonly PdfItem[]): number {
  const letters = new Map<number, number>();
  for (const { str, height } of items) letters.set(height, (letters.get(height) ?? 0) + str.trim().length);
  return [...letters].reduce((most, one) => (one[1] > most[1] ? one : most))[0];
}

const baseOf = (items: readonly PdfItem[], size: number): PdfItem =>
  items.find(({ height }) => height === size) ?? items[0]!;

/** Small letters above the line are raised ones: a power, or the number of a note. One before the text stands apart. */
function marked(items: readonly PdfItem[]): PdfItem[] {
  return items.map((item, at) => {
    const before = items[at - 1];
    const main = before && before.str.trim() !== "" ? before : items.slice(at + 1).find(({ str }) => str.trim() !== "");
    if (!main || !isRaised(item, main)) return item;
    return { ...item, str: main === before ? `${raisedStart}${item.str}${raisedEnd}` : `${item.str} ` };
  });
}

function isRaised({ str, height, transform }: PdfItem, main: PdfItem): boolean {
  const rise = (transform[5] ?? 0) - (main.transform[5] ?? 0);
  return /^[+\-−]?\w{1,4}$/.test(str) && height < 0.85 * main.height && rise > 0.2 * height && rise < main.height;
}

/** What stands in a line, parted where there is more room than `wide` heights of the letters. */
function cellsOf(items: readonly PdfItem[], wide: number): PdfCell[] {
  const cells: PdfCell[] = [];
  for (const { str, transform, width, height } of items) {
    const x = transform[4] ?? 0;
    const cell = cells.at(-1);
    if (!cell || x - cell.to > wide * height || cell.from - x - width > wide * height)
      cells.push({ text: str, from: x, to: x + width });
    else {
      cell.text += `${x - cell.to > height / 10 ? " " : ""}${str}`;
      cell.to = x + width;
    }
  }
  return cells.map((cell) => ({ ...cell, text: withRaised(cell.text).replace(/\s+/g, " ").trim() }));
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

/** Lines of a paragraph, in which a word that was cut at a line's end is whole again: the two are one line then. */
export function joinLines(lines: readonly PlacedLine[], hyphenated: ReadonlySet<string>): PlacedLine[] {
  const joined: PlacedLine[] = [];
  for (const { text, box } of lines) {
    const before = joined.at(-1);
    const [, head] = /(\p{L}{2,40})[-\u00ad\u2010]$/u.exec(before?.text.slice(-42) ?? "") ?? [];
    const [tail] = (head && /^\p{Ll}\p{L}{0,40}/u.exec(text)) || [];
    if (!before || !head || !tail) joined.push({ text, box });
    else {
      const kept = before.text.slice(0, hyphenated.has(wordOf(head, tail)) ? undefined : -1);
      joined[joined.length - 1] = { text: kept + text, box: around(before.box, box) };
    }
  }
  return joined;
}

const wordOf = (head: string, tail: string): string => `${head}-${tail}`.toLowerCase();
