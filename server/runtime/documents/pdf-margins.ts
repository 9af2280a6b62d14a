import { requireValue } from "../../lib/require-value.ts";
import type { PdfLine } from "./pdf-lines.ts";
import { tablesIn } from "./pdf-tables.ts";

/**
 * Height of the top and bottom margin, as a fraction of the page, in which running heads and page numbers are found.
 */
const margin = 0.12;
/** Maximum number of lines of a running head. */
const headLines = 3;
/** Lines with a smaller distance are side by side. */
const sameLine = 0.003;

/**
 * Finds the lines in the margins that are apart from the text: the gap to the text is larger than its line spacing, and
 * they are neither part of a table of the text nor a sentence. A line without a box counts as apart. Returns each with
 * the rows of its table, which are furniture together or not at all.
 */
export function marginLines(
  page: readonly PdfLine[],
  edges: readonly PdfLine[],
  isTitle: (line: PdfLine) => boolean,
): Map<PdfLine, readonly PdfLine[]> {
  const placed = page.filter(({ box }) => box !== null).sort((a, b) => topOf(a) - topOf(b));
  const steps = placed.slice(1).map((line, at) => topOf(line) - topOf(requireValue(placed[at], "The line above")));
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
    for (let [at, before] = [placed.indexOf(line) + inward, line]; ; at += inward) {
      const next = placed[at];
      if (!next || Math.abs(topOf(next) - topOf(before)) > wide) break;
      block.push(next);
      before = next;
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

/** True if a line continues in the next or from the previous one, or is a sentence: it is then no running head. */
export const isOfSentence = (text: string): boolean =>
  /^\p{Ll}\S*\s+\S+\s+\S|(?:[,;:。！？]|\p{L}[-‐\u00ad])$/u.test(text) ||
  /^\S+\s+\S+\s.*[.!?…]["'”’»)\]]*$/u.test(text);

const topOf = ({ box }: PdfLine): number => requireValue(box, "The place of a line")[1];

const isInMargin = ({ box }: PdfLine): boolean => !box || box[3] <= margin || box[1] >= 1 - margin;

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? 0;
}
