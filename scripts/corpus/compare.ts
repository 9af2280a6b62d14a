/** Outcome of comparing the text of a document with what another program reads. */
export interface Comparison {
  /** Words that the reference reads. */
  words: number;
  /** Words of the reference that the text lacks, each as often as it is missing. */
  missing: string[];
  /** Words that both have, divided differently: "e-mail" and "email". */
  divided: number;
  /** Repetitions of a page's header or footer, and page numbers, which are left out. */
  furniture: number;
  /** Words of the text that the reference lacks. */
  extra: number;
}

interface Place {
  word: string;
  /** Position of the first and behind the last letter, in the letters of the whole text. */
  start: number;
  end: number;
}

interface Text {
  places: Place[];
  /** All letters and digits without anything between them. */
  letters: string;
}

const segmenter = new Intl.Segmenter("en", { granularity: "word" });
/** Letters by which a word is found that both texts divide differently: its own, and those before or after it. */
const contextLength = 10;
const invisible = /[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]/g;
const wordRuns = /[\p{L}\p{N}\p{M}]+/gu;
/** Scripts that write no spaces between words, which Unicode's segmentation divides by dictionaries. */
const unspaced = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;

/** Compares multisets of words. `text` is ours: Markdown. */
export function compare(reference: string, text: string, pages = false): Comparison {
  const { body, repeated } = pages ? withoutFurniture(reference) : { body: reference, repeated: [] };
  const ours = divide(plain(text));
  const theirs = divide(body);
  const left = countsOf(ours.places);
  const lacking = theirs.places.filter(({ word }) => !take(left, word));
  // A header that is repeated in the text as well is not extra.
  const furniture = repeated.flatMap((line) => divide(line).places).filter(({ word }) => !take(left, word)).length;
  const isDivided = findDivided(lacking, theirs.letters, ours.letters);
  const missing = lacking.filter((place) => !isDivided(place)).map(({ word }) => word);
  return {
    words: theirs.places.length,
    missing,
    divided: lacking.length - missing.length,
    furniture,
    extra: [...left.values()].reduce((sum, count) => sum + count, 0),
  };
}

function divide(text: string): Text {
  const normal = text.normalize("NFKC").replace(invisible, "").toLowerCase().normalize("NFKC");
  const places: Place[] = [];
  const letters: string[] = [];
  let length = 0;
  const add = (word: string) => {
    places.push({ word, start: length, end: length + word.length });
    letters.push(word);
    length += word.length;
  };
  for (const [run] of normal.matchAll(wordRuns)) {
    if (!unspaced.test(run)) add(run);
    else for (const { segment } of segmenter.segment(run)) add(segment);
  }
  return { places, letters: letters.join("") };
}

/** Takes the marks of superscripts out, which only Markdown has. */
const plain = (markdown: string): string => markdown.replace(/\^(?=[\p{L}\p{N}(+-])/gu, "");

function countsOf(places: readonly Place[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { word } of places) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

/** Takes one word out of the counts. Returns false if there is none. */
function take(counts: Map<string, number>, word: string): boolean {
  const count = counts.get(word) ?? 0;
  if (count > 0) counts.set(word, count - 1);
  return count > 0;
}

/**
 * Returns a judge that says if a word stands in the other text, with the same letters before or after it. The other text
 * is searched once for all of them.
 */
function findDivided(places: readonly Place[], letters: string, others: string): (place: Place) => boolean {
  const length = Math.min(contextLength, letters.length, others.length);
  const windowsOf = ({ start, end }: Place) => {
    const from = Math.max(0, Math.min(start, letters.length - length));
    const before = Math.max(0, end - length);
    return [letters.slice(from, from + length), letters.slice(before, before + length)] as const;
  };
  if (length === 0 || places.length === 0) return () => false;
  const wanted = new Set(places.flatMap(windowsOf));
  const found = new Set<string>();
  for (let at = 0; at + length <= others.length; at++) {
    const window = others.slice(at, at + length);
    if (wanted.has(window)) found.add(window);
  }
  return (place) => {
    const [after, before] = windowsOf(place).map((window) => found.has(window));
    return place.end - place.start > length ? after! && before! : after! || before!;
  };
}

const edgeLines = 3;
/** A page's number with nothing but the word for it, once digits are "#". */
const pageNumber =
  /^\W*(?:(?:page|seite|pagina|página|pág|pg|p|s)\b\.?\s*)?(?:#|[ivxlc]+)(?:\s*(?:\/|of|von|de|di|sur)\s*#)?\W*$/i;

/**
 * Returns the text without running headers and footers, but for the first of each, and without page numbers. Pages end
 * with a form feed. A line is one if pages have it at their edge, however its numbers differ.
 */
function withoutFurniture(text: string): { body: string; repeated: string[] } {
  const pages = text.split("\f").map((page) => page.split("\n").filter((line) => line.trim() !== ""));
  const counts = new Map<string, number>();
  for (const lines of pages)
    for (const key of new Set(edgesOf(lines).map(keyOf))) counts.set(key, (counts.get(key) ?? 0) + 1);
  const seen = new Set<string>();
  const repeated: string[] = [];
  const kept = pages.map((lines) => {
    const edges = new Set(edgesOf(lines));
    return lines.filter((line) => {
      const key = keyOf(line);
      const isNumber = pageNumber.test(key);
      if (!edges.has(line) || ((counts.get(key) ?? 0) < 2 && !isNumber)) return true;
      const isFirst = !seen.has(key) && !isNumber;
      seen.add(key);
      if (!isFirst) repeated.push(line);
      return isFirst;
    });
  });
  return { body: kept.map((lines) => lines.join("\n")).join("\n"), repeated };
}

const edgesOf = (lines: readonly string[]): string[] => [...lines.slice(0, edgeLines), ...lines.slice(-edgeLines)];

const keyOf = (line: string): string => line.trim().replace(/\d+/g, "#");
