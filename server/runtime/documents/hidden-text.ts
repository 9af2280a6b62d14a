import type { Outline } from "./outline.ts";

/** Kinds of text that a document holds and does not show. */
const kinds = {
  text: "Hidden text",
  deletion: "Text deleted with tracked changes",
  sheet: "Text of hidden sheets",
  row: "Text of hidden rows",
  column: "Text of hidden columns",
  cell: "Text that merged cells cover",
  slide: "Text of hidden slides",
  shape: "Text of hidden shapes",
} as const;
export type HiddenKind = keyof typeof kinds;

const placesMost = 3;
const placesKept = 1000;
const nameMost = 30;

export type HiddenText = ReturnType<typeof createHiddenText>;

/**
 * The one rule for hidden text in all formats: it is read if the upload asks for it. Else it is left out, and a warning
 * says how much there is, and where.
 */
export function createHiddenText(outline: Pick<Outline, "warn">, isIncluded: boolean) {
  const skipped = new Map<HiddenKind, { words: number; count: number; places: Set<string> }>();
  return {
    isIncluded,
    /** Counts text that is left out. `place` names where it is, in the words of the document's format; "" for none. */
    skip(kind: HiddenKind, text: string, place: string): void {
      const words = wordsIn(text);
      if (words === 0) return;
      const found = skipped.get(kind) ?? { words: 0, count: 0, places: new Set() };
      skipped.set(kind, found);
      found.words += words;
      // The cells of a column are one place.
      if (kind !== "column" || !found.places.has(place)) found.count++;
      if (place !== "" && found.places.size < placesKept) found.places.add(place);
    },
    /** Records what was left out since the last call. */
    warn(page: number | null = null): void {
      for (const [kind, found] of skipped) {
        const words = `${found.words} ${found.words === 1 ? "word" : "words"}`;
        const message = `${kinds[kind]} was left out: ${words}${whereOf(found)}. Upload with include_hidden to read it.`;
        outline.warn("hidden_text_skipped", message, page);
      }
      skipped.clear();
    },
  };
}

function whereOf({ count, places }: { count: number; places: Set<string> }): string {
  const named = [...places].slice(0, placesMost);
  const number = count > 1 ? ` in ${count} places` : "";
  if (named.length === 0) return number;
  return `${number} (${named.join(", ")}${places.size > placesMost ? ", …" : ""})`;
}

/** Quotes a name of the document for a warning. */
export function quoteName(name: string): string {
  const line = name.replace(/\s+/g, " ").trim();
  return line === "" ? "" : `“${line.length > nameMost ? `${line.slice(0, nameMost)}…` : line}”`;
}

/** Counts words, and each character of a script that separates none. */
const wordsIn = (text: string): number =>
  text.match(/[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]|[^\s\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]+/gu)?.length ??
  0;
