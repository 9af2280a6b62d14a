import { requireValue } from "../../lib/require-value.ts";
/** A part of a page: left, top, right and bottom edge, as fractions of the page's width and height from its top left. */
export type Box = readonly [left: number, top: number, right: number, bottom: number];

/** A line of text and its box on the page; null if unknown. */
export interface PlacedLine {
  text: string;
  box: Box | null;
}

/** Box of the text that begins at character `at`. */
export interface Place {
  at: number;
  box: Box;
}

/** Returns the place of each line in the text that joins them with newlines. */
export function placesOf(lines: readonly PlacedLine[]): Place[] {
  const places: Place[] = [];
  let at = 0;
  for (const { text, box } of lines) {
    if (box) places.push({ at, box });
    at += text.length + 1;
  }
  return places;
}

/** The smallest box around both. */
export const unionOf = (one: Box | null, other: Box | null): Box | null =>
  one && other
    ? [Math.min(one[0], other[0]), Math.min(one[1], other[1]), Math.max(one[2], other[2]), Math.max(one[3], other[3])]
    : (one ?? other);

export const boxesMost = 100;

/** Returns the boxes of the text between two characters. Lines directly below one another share a box. */
export function boxesWithin(places: readonly Place[], from: number, to: number): Box[] {
  const boxes: Box[] = [];
  for (const [index, { at, box }] of places.entries()) {
    if (at >= to || (places[index + 1]?.at ?? Number.POSITIVE_INFINITY) <= from) continue;
    const last = boxes.at(-1);
    if (last && isBelow(last, box))
      boxes[boxes.length - 1] = requireValue(unionOf(last, box), "The union of two boxes");
    else if (boxes.length < boxesMost) boxes.push(box);
  }
  return boxes;
}

/** True if a line continues the block above it: the gap between them is smaller than the line is high. */
const isBelow = (above: Box, line: Box): boolean =>
  line[1] >= above[1] && line[1] - above[3] < line[3] - line[1] && line[0] <= above[2] && above[0] <= line[2];
