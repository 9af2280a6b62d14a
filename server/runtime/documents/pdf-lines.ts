import { firstItem } from "../../lib/collections.ts";
import { type Box, type PlacedLine, unionOf } from "./boxes.ts";
import type { PdfItem } from "./pdf-item.ts";
import { inReadingOrder } from "./pdf-right-to-left.ts";
import { markRaisedText, raisedEnd, raisedStart } from "./raised.ts";

/** A line of a page. */
export interface PdfLine extends PlacedLine {
  /** Its text split at gaps wider than between words: the cells of a row, the two ends of a running head. */
  parts: readonly string[];
  /** Its text split at smaller gaps too: a table if the lines below have the same columns. */
  cells: readonly PdfCell[];
  /** Its words, at places estimated from the letters before them: PDF.js joins texts that are close together. */
  words?: readonly PdfCell[];
  /** Font size of most of its characters. */
  size: number;
  /** True if the gap above is larger than between the lines of a paragraph. */
  hasGapAbove: boolean;
  /** Fonts of its text. */
  fonts?: readonly string[];
  /** True if it is a running head or foot. */
  isFurniture?: boolean;
}

/** A cell of a line with its left and right edge. */
export interface PdfCell {
  text: string;
  from: number;
  to: number;
}

/** Returns the lines of a page in drawing order. */
export function linesFrom(items: readonly PdfItem[], boxOf: (item: PdfItem) => Box): PdfLine[] {
  const lines: PdfLine[] = [];
  let lineItems: PdfItem[] = [];
  let above: { y: number; size: number } | null = null;
  const end = () => {
    const drawn = markRaised(inReadingOrder(lineItems));
    lineItems = [];
    const shown = drawn.filter(({ str }) => str.trim() !== "");
    if (shown.length === 0) return;
    const size = sizeOf(shown);
    const y = baseOf(shown, size).transform[5] ?? 0;
    const hasGap = above !== null && Math.abs(above.y - y) > 1.7 * Math.max(size, above.size);
    above = { y, size };
    lines.push({
      text: withoutLeaders(
        markRaisedText(drawn.map((item, at) => `${isBefore(item, drawn[at - 1]) ? " " : ""}${item.str}`).join("")),
      ),
      parts: cellsOf(shown, 1.5).map(({ text }) => text),
      cells: cellsOf(shown, 0.7),
      words: shown.flatMap(wordsIn),
      size,
      hasGapAbove: hasGap,
      fonts: [...new Set(shown.map(({ fontName = "" }) => fontName))],
      box: shown.map(boxOf).reduce<Box | null>(unionOf, null),
    });
  };
  for (const item of items) {
    lineItems.push(item);
    if (item.hasEOL) end();
  }
  end();
  return lines;
}

/**
 * True if an item is well to the left of the previous one, like the left end of a footer whose right end is drawn
 * first.
 */
const isBefore = ({ str, transform, width, height }: PdfItem, last: PdfItem | undefined): boolean =>
  last !== undefined &&
  str.trim() !== "" &&
  (last.transform[4] ?? 0) - (transform[4] ?? 0) - width > 1.5 * Math.max(height, last.height);

/** Returns the font size of most characters of a line. */
function sizeOf(items: readonly PdfItem[]): number {
  const letters = new Map<number, number>();
  for (const { str, height } of items) letters.set(height, (letters.get(height) ?? 0) + str.trim().length);
  return [...letters].reduce((most, one) => (one[1] > most[1] ? one : most))[0];
}

const baseOf = (items: readonly PdfItem[], size: number): PdfItem =>
  items.find(({ height }) => height === size) ?? firstItem(items);

/**
 * Marks small letters above the line as raised: exponents or note numbers. One at the start of the text is kept apart.
 */
function markRaised(items: readonly PdfItem[]): PdfItem[] {
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

/** Splits a line at gaps wider than `wide` times its font size. */
function cellsOf(items: readonly PdfItem[], wide: number): PdfCell[] {
  const cells: PdfCell[] = [];
  for (const { str, transform, width, height } of items) {
    const x = transform[4] ?? 0;
    const cell = cells.at(-1);
    if (!cell || x - cell.to > wide * height || cell.from - x - width > wide * height)
      cells.push({ text: str, from: x, to: x + width });
    else {
      const gap = Math.max(x - cell.to, cell.from - x - width);
      cell.text += `${gap > height / 10 ? " " : ""}${str}`;
      [cell.from, cell.to] = [Math.min(cell.from, x), Math.max(cell.to, x + width)];
    }
  }
  return cells.map((cell) => ({ ...cell, text: markRaisedText(cell.text).replace(/\s+/g, " ").trim() }));
}

/** Splits a text item into words, as if all its letters were equally wide. */
function wordsIn({ str, transform, width }: PdfItem): PdfCell[] {
  const start = transform[4] ?? 0;
  const letter = width / Math.max(1, str.length);
  return [...str.matchAll(/\S+/g)].map(({ 0: word, index }) => ({
    text: markRaisedText(word),
    from: start + index * letter,
    to: start + (index + word.length) * letter,
  }));
}

/** Matches the dots before a page number in a table of contents. */
const leader = / … (?:\d{1,5}|[ivxlc]{1,8})$/i;

/** True if a line belongs to a table of contents. */
export const isContents = (text: string): boolean => leader.test(text);

/** Shortens long rows of dots to an ellipsis. */
export const withoutLeaders = (text: string): string => text.replace(/(?:[ \t]?[.·_]){5,}[ \t]?/g, " … ").trimEnd();

/** Returns words with a hyphen that occur within a line. */
export function hyphenatedWords(pages: readonly (readonly PdfLine[])[]): Set<string> {
  const words = new Set<string>();
  for (const { text } of pages.flat())
    for (const [word] of text.matchAll(/\p{L}+-\p{L}+/gu)) words.add(word.toLowerCase());
  return words;
}

/** Joins words that were hyphenated at a line end; the two lines then become one. */
export function joinLines(lines: readonly PlacedLine[], hyphenated: ReadonlySet<string>): PlacedLine[] {
  const joined: PlacedLine[] = [];
  for (const { text, box } of lines) {
    const before = joined.at(-1);
    const [, head] = /(\p{L}{2,40})[-\u00ad\u2010]$/u.exec(before?.text.slice(-42) ?? "") ?? [];
    const [tail] = (head && /^\p{Ll}\p{L}{0,40}/u.exec(text)) || [];
    if (!before || !head || !tail) joined.push({ text, box });
    else {
      const kept = before.text.slice(0, hyphenated.has(wordOf(head, tail)) ? undefined : -1);
      joined[joined.length - 1] = { text: kept + text, box: unionOf(before.box, box) };
    }
  }
  return joined;
}

const wordOf = (head: string, tail: string): string => `${head}-${tail}`.toLowerCase();
