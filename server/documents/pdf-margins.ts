import type { PdfLine } from "./pdf-lines.ts";
import { tablesIn } from "./pdf-tables.ts";

/** The part of a page's height, at its top and at its foot, in which running heads and page numbers stand. */
const margin = 0.12;
/** Running heads have no more lines. */
const headLines = 3;
/** Lines that are less apart stand beside each other. */
const sameLine = 0.003;

/**
 * Finds the lines of a page that stand apart from its text: in the margin, with more room towards the text than the text
 * has between its lines, in no table of the text, and without a sentence. A line whose place is not known is taken for one.
 * Gives each with the rows of its table, which are running heads together with it or not at all.
 */
export function marginLines(
  page: readonly PdfLine[],
  edges: readonly PdfLine[],
  isTitle: (line: PdfLine) => boolean,
): Map<PdfLine, readonly PdfLine[]> {
  const placed = page.filter(({ box }) => box !== null).sort((a, b) => topOf(a) - topOf(b));
  const steps = placed.slice(1).map((line, at) => topOf(line) - topOf(placed[at]!));
  const usual = medianOf(steps.filter((step) => step > sameLine));
  const tables = new Map<PdfLine, readonly PdfLine[]>();
  for (const found of tablesIn(page, isTitle))
    if ("rows" in found) for (const row of found.rows) tables.set(row, found.rows);
  const isApart = (line: PdfLine): boolean => {
    if (!line.box) return true;
    if (!isInMargin(line)) return false;
    const height = line.box[3] - line.box[1];
    const wide = 1.3 * Math.max(1.2 * height, Math.min(usual, 3 * height));
    const inward = line.box[3] <= margin ? 1 : -1;
    const block = [line];
    for (let at = placed.indexOf(line); ; at += inward) {
      const next = placed[at + inward];
      if (!next || Math.abs(topOf(next) - topOf(placed[at]!)) > wide) break;
      block.push(next);
    }
    return block.length <= headLines && !block.some(({ text }) => isOfSentence(text));
  };
  return new Map(
    edges.flatMap((line) => {
      const rows = line.box ? (tables.get(line) ?? []) : [];
      return isApart(line) && rows.every(isInMargin) ? [[line, rows]] : [];
    }),
  );
}

/** Text that goes on in the next line or comes from the one before, or a sentence of its own: no running head. */
export const isOfSentence = (text: string): boolean =>
  /^\p{Ll}\S*\s+\S+\s+\S|(?:[,;:。！？]|\p{L}[-‐\u00ad])$/u.test(text) ||
  /^\S+\s+\S+\s.*[.!?…]["'”’»)\]]*$/u.test(text);

const topOf = ({ box }: PdfLine): number => box![1];

const isInMargin = ({ box }: PdfLine): boolean => !box || box[3] <= margin || box[1] >= 1 - margin;

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? 0;
}
