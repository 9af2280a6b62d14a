import { foldText, searchSpelling } from "../../../../server/domain/search-spelling.ts";

/** A part of a text, and whether it is a word of the query. */
interface TextPart {
  text: string;
  isMatch: boolean;
}

const word = /[\p{L}\p{N}\p{M}]+(?:\p{DI}+[\p{L}\p{N}\p{M}]+)*/gu;
/** Scripts without spaces between words: a query's characters are found wherever they stand. */
const unspaced = /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}]/u;
/** Inflected forms of a word differ in at most this many last letters. */
const endingLength = 3;

const spellingOf = (text: string): string => searchSpelling(foldText(text.normalize("NFKC").replace(/\p{DI}/gu, "")));

/** Splits a text at the words of a query, in whichever spelling they are written. The parts together are the text. */
export function markWords(text: string, query: string): TextPart[] {
  const words = query.match(word) ?? [];
  const spellings = words.filter((each) => !unspaced.test(each)).map(spellingOf);
  const unspacedWords = words.filter((each) => unspaced.test(each)).map((each) => each.normalize("NFKC"));
  const parts: TextPart[] = [];
  let at = 0;
  const mark = (start: number, end: number) => {
    if (start > at) parts.push({ text: text.slice(at, start), isMatch: false });
    parts.push({ text: text.slice(start, end), isMatch: true });
    at = end;
  };
  for (const { 0: found, index } of text.matchAll(word)) {
    if (unspaced.test(found)) {
      for (const [start, end] of placesOf(found, unspacedWords)) mark(index + start, index + end);
    } else if (spellings.some((each) => isForm(spellingOf(found), each))) mark(index, index + found.length);
  }
  if (at < text.length) parts.push({ text: text.slice(at), isMatch: false });
  return parts;
}

/** True if one is the other, or another inflected form of it. */
function isForm(one: string, other: string): boolean {
  if (one === other) return true;
  let common = 0;
  while (common < one.length && one[common] === other[common]) common++;
  return common >= 4 && Math.max(one.length, other.length) - common <= endingLength;
}

/** Returns the places of words in a run of characters, in order and apart. */
function placesOf(run: string, words: readonly string[]): [start: number, end: number][] {
  const places: [number, number][] = [];
  for (let at = 0; at < run.length; ) {
    const found = words.find((each) => run.startsWith(each, at));
    if (found) places.push([at, at + found.length]);
    at += found?.length ?? 1;
  }
  return places;
}
