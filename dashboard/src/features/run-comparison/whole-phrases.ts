import type { DiffPart } from "../../lib/text-diff.ts";

/** Maximum number of common words between two changes that are merged into one, for readable phrases. */
const wordsMax = 2;

/** Merges word changes into phrase changes. */
export function wholePhrases(parts: readonly DiffPart[]): DiffPart[] {
  const result: DiffPart[] = [];
  let [deletedText, addedText] = ["", ""];
  const flush = () => {
    if (deletedText) result.push({ kind: "gone", text: deletedText });
    if (addedText) result.push({ kind: "new", text: addedText });
    [deletedText, addedText] = ["", ""];
  };
  parts.forEach((part, i) => {
    const isWithin = i > 0 && i < parts.length - 1;
    if (part.kind === "gone") deletedText += part.text;
    else if (part.kind === "new") addedText += part.text;
    else if (isWithin && isShort(part.text))
      [deletedText, addedText] = [deletedText + part.text, addedText + part.text];
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
