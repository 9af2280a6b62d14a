import type { DiffPart } from "../../lib/text-diff.ts";

/** Maximum number of common words between two changes that are merged into one, for readable phrases. */
const wordsMax = 2;

/** Merges word changes into phrase changes. */
export function wholePhrases(parts: readonly DiffPart[]): DiffPart[] {
  const result: DiffPart[] = [];
  let [gone, added] = ["", ""];
  const flush = () => {
    if (gone) result.push({ kind: "gone", text: gone });
    if (added) result.push({ kind: "new", text: added });
    [gone, added] = ["", ""];
  };
  parts.forEach((part, i) => {
    const isWithin = i > 0 && i < parts.length - 1;
    if (part.kind === "gone") gone += part.text;
    else if (part.kind === "new") added += part.text;
    else if (isWithin && isShort(part.text)) [gone, added] = [gone + part.text, added + part.text];
    else {
      flush();
      result.push(part);
    }
  });
  flush();
  return result;
}

const isShort = (text: string): boolean =>
  !text.includes("\n") && (text.match(/[\p{L}\p{N}_]+/gu)?.length ?? 0) <= wordsMax;
