/** A part of a page: left, top, right and bottom edge, as fractions of the page's width and height from its top left. */
export type Box = readonly [left: number, top: number, right: number, bottom: number];

/** A line and where it stands; null where nobody knows. */
export interface PlacedLine {
  text: string;
  box: Box | null;
}

/** Where what begins at a character of a text stands. */
export interface Place {
  at: number;
  box: Box;
}

/** The places of lines in their text, in which each is a line. */
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
export const around = (one: Box | null, other: Box | null): Box | null =>
  one && other
    ? [Math.min(one[0], other[0]), Math.min(one[1], other[1]), Math.max(one[2], other[2]), Math.max(one[3], other[3])]
    : (one ?? other);

export const boxesMost = 100;

/** The boxes of the text between two characters: one for lines below one another. */
export function boxesWithin(places: readonly Place[], from: number, to: number): Box[] {
  const boxes: Box[] = [];
  for (const [index, { at, box }] of places.entries()) {
    if (at >= to || (places[index + 1]?.at ?? Number.POSITIVE_INFINITY) <= from) continue;
    const last = boxes.at(-1);
    if (last && isBelow(last, box)) boxes[boxes.length - 1] = around(last, box)!;
    else if (boxes.length < boxesMost) boxes.push(box);
  }
  return boxes;
}

/** Whether a line goes on below another, with less room between them than it is high. */
const isBelow = (above: Box, line: Box): boolean =>
  line[1] >= above[1] && line[1] - above[3] < line[3] - line[1] && line[0] <= above[2] && above[0] <= line[2];
