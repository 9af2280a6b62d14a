const longest = 40_000;
/** Maximum number of expensive marks: cells, brackets, emphasis, code and tags, addresses, lists and quotes. */
const bounds: [RegExp, number][] = [
  [/\|/g, 3000],
  [/[[\]]/g, 3000],
  [/[*_~]/g, 5000],
  [/[`<]/g, 5000],
  [/www\.|https?:|@/gi, 600],
  [/^[ \t]*(?:[-*+>]|\d+[.)])/gm, 1200],
];
const deepestLine = /^[ \t>*+-]{240}/m;

/** True if any text of this kind parses as Markdown within a moment, even a malicious one. */
export function isSafeMarkdown(text: string): boolean {
  if (text.length > longest || deepestLine.test(text)) return false;
  return bounds.every(([mark, most]) => (text.match(mark)?.length ?? 0) <= most);
}
