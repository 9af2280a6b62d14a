import { formerWordText, oneSpelling, word } from "../retrieval/search/word-text.ts";
import { type Beginnings, isLetter, spelled } from "./beginnings.ts";

// What is looked at of a query.
const mostWords = 32;
// So often a document has a word.
const mostPlaces = 2000;

/** What a query asks of the index. */
export interface Words {
  /** As an FTS5 expression: all of the words, wherever they stand. */
  expression: string;
  /** Whether words that are to stand one behind the other do so there; null where none are. */
  stand: ((title: string, text: string) => boolean) | null;
  /** Words that each document must have. */
  each: readonly string[];
  /** What one of the words begins with, where it is not whole. */
  beginning: string | null;
}

/** A text as it is asked for: letters of scripts that put no space between words stand alone. */
const searchText = (text: string): string => formerWordText(text.toWellFormed());

/** The same as it is indexed: without what it says again and again, and without the end of what grows by its spelling. */
export function indexText(text: string): string {
  const plain = searchText(oneSpelling(text).slice(0, 2 * text.length + 100));
  if (plain.length < 2 * mostPlaces) return plain;
  const places = new Map<string, number>();
  return plain.replace(word, (each) => {
    const own = spelled(each);
    const place = (places.get(own) ?? 0) + 1;
    places.set(own, place);
    return place > mostPlaces ? "" : each;
  });
}

/** A text as it was, for people to read. */
const letter = String.raw`[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}]`;
const apart = new RegExp(`(?<=${letter}) +(?=${letter})`, "gv");
export const readable = (text: string): string => text.replace(apart, "").replace(/\s+/g, " ").trim();

/**
 * What people type as words of the index: all must be there, those in quotes one behind the other, and of the last one its
 * beginning. Null where there is no word in it. Nothing but words gets into it, so that any text is a query.
 */
export async function wordsOf(query: string, beginnings: Beginnings): Promise<Words | null> {
  const [each, phrases, ways]: [string[], RegExp[], string[]] = [[], [], []];
  let beginning: string | null = null;
  const given = [...oneSpelling(query).matchAll(/"([^"]*)"?|[^\s"]+/g)];
  for (const [index, [all, quoted]] of given.entries()) {
    const words = searchText(quoted ?? all)
      .match(word)
      ?.slice(0, mostWords - each.length);
    if (!words?.length) continue;
    // A query that goes on behind its last word is done with it.
    const isLast = quoted === undefined && index === given.length - 1 && !/\s$/.test(query);
    const isOpen = isLast && !isLetter(words.at(-1)!);
    if (words.length > 1) phrases.push(phraseOf(words, isOpen));
    if (isOpen) {
      beginning = words.pop()!;
      const whole = await beginnings(beginning);
      ways.push(whole ? `(${whole.map((one) => `"${one}"`).join(" OR ")})` : `"${beginning}" *`);
    }
    each.push(...words);
  }
  const known = [...new Set(each)];
  const expression = [...known.map((one) => `"${one}"`), ...ways].join(" AND ");
  if (expression === "") return null;
  const isIn = (phrase: RegExp, text: string): boolean => phrase.test(text);
  const stand = (title: string, text: string): boolean => {
    const [own, rest] = [spelled(title), spelled(text)];
    return phrases.every((phrase) => isIn(phrase, rest) || isIn(phrase, own));
  };
  return {
    expression: `{title text} : (${expression})`,
    each: known,
    beginning,
    stand: phrases.length > 0 ? stand : null,
  };
}

const inWords = String.raw`[\p{L}\p{N}\p{Co}\p{M}]`;
const between = String.raw`[^\p{L}\p{N}\p{Co}\p{M}]+`;

/** Words one behind the other, of which the last may go on. */
const phraseOf = (words: readonly string[], isOpen: boolean): RegExp =>
  new RegExp(`(?<!${inWords})${words.map(spelled).join(between)}${isOpen ? "" : `(?!${inWords})`}`, "u");

/** The beginning of an id, in the way ids are written; null for what is none. */
export function idOf(query: string): string | null {
  const text = query.trim().toLowerCase();
  return /^[a-z]{2,5}_[0-9a-z]{0,26}$/.test(text) ? text : null;
}
