import type { PdfItem } from "./pdf-item.ts";

const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/g;
const leftToRight = /(?![\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc])[\p{L}\p{Nd}]/gu;

/**
 * Puts the items of a line with Arabic or Hebrew into reading order. Programs draw its words, or each letter, in any
 * order: often as seen, from left to right. PDF.js has put the letters within an item into reading order.
 */
export function inReadingOrder(items: readonly PdfItem[]): readonly PdfItem[] {
  if (items.every(({ str }) => str.search(rightToLeft) < 0)) return items;
  const text = items.map(({ str }) => str).join("");
  const count = text.match(rightToLeft)?.length ?? 0;
  if (!items.every(isLevel)) return items;
  const isRight = count > (text.match(leftToRight)?.length ?? 0);
  const placed = items.filter(({ str }) => str !== "").sort((one, other) => leftOf(one) - leftOf(other));
  const ordered = isRight ? turned(placed.reverse(), leftToRight) : turned(placed, rightToLeft);
  return ordered.map((item, at) => (isApart(ordered[at - 1], item) ? { ...item, str: ` ${item.str}` } : item));
}

const isLevel = ({ transform: [a = 0, b = 0], down }: PdfItem): boolean => a > 0 && b === 0 && down === undefined;

const leftOf = ({ transform }: PdfItem): number => transform[4] ?? 0;

/** Reverses each run of items in the other direction; signs and spaces belong to it if they are between its words. */
function turned(items: readonly PdfItem[], direction: RegExp): PdfItem[] {
  const isOther = items.map(({ str }) => str.search(direction) >= 0);
  const isNeutral = items.map(({ str }) => str.search(leftToRight) < 0 && str.search(rightToLeft) < 0);
  const result: PdfItem[] = [];
  for (let at = 0; at < items.length; ) {
    let [end, next] = [at, at];
    while (isOther[next] || (next > at && isNeutral[next])) if (isOther[next++]) end = next;
    result.push(...items.slice(at, Math.max(end, at + 1)).reverse());
    at = Math.max(end, at + 1);
  }
  return result;
}

/** True if there is a gap between two items of a line, and no space. */
function isApart(before: PdfItem | undefined, item: PdfItem): boolean {
  if (!before || /\s$/.test(before.str) || /^\s/.test(item.str)) return false;
  const [one, other] = leftOf(before) < leftOf(item) ? [before, item] : [item, before];
  return leftOf(other) - leftOf(one) - one.width > item.height / 5;
}
