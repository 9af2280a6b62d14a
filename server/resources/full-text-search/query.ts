import { lastItem } from "../../lib/collections.ts";
import { formerWordText, oneSpelling, word } from "../../runtime/retrieval/vector-search/word-text.ts";
import { isLetter, type PrefixTerms, spelled } from "./prefix-terms.ts";

// Most words of a query that are used.
const mostWords = 32;
// Most indexed occurrences of a word per document.
const mostPlaces = 2000;

/** A parsed query. */
export interface Words {
  /** FTS5 expression that requires all words, in any order. */
  expression: string;
  /** True if a document's phrases match; null if the query has none. */
  stand: ((title: string, text: string) => boolean) | null;
  /** Words that each document must have. */
  each: readonly string[];
  /** Prefix of an incomplete last word, or null. */
  beginning: string | null;
}

/** Normalizes a query: characters of scripts without spaces become single words. */
const searchText = (text: string): string => formerWordText(text.toWellFormed());

/** Normalizes a text for the index. Drops excessive repetitions, and the end of texts that normalization lengthens. */
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

/** Restores a normalized text for display. */
const letter = String.raw`[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}]`;
const apart = new RegExp(`(?<=${letter}) +(?=${letter})`, "gv");
export const toDisplayText = (text: string): string => text.replace(apart, "").replace(/\s+/g, " ").trim();

/**
 * Parses a query: all words are required, quoted ones as a phrase, the last one as a prefix. Returns null if it has no
 * word. Only words reach the expression, so any text is a valid query.
 */
export async function wordsOf(query: string, prefixTerms: PrefixTerms): Promise<Words | null> {
  const [each, phrases, ways]: [string[], RegExp[], string[]] = [[], [], []];
  let beginning: string | null = null;
  const tokens = [...oneSpelling(query).matchAll(/"([^"]*)"?|[^\s"]+/g)];
  for (const [index, [all, quoted]] of tokens.entries()) {
    const words = searchText(quoted ?? all)
      .match(word)
      ?.slice(0, mostWords - each.length);
    if (!words?.length) continue;
    // A query that continues after its last word has completed it.
    const isLast = quoted === undefined && index === tokens.length - 1 && !/\s$/.test(query);
    const isOpen = isLast && !isLetter(lastItem(words));
    if (words.length > 1) phrases.push(phraseOf(words, isOpen));
    if (isOpen) {
      beginning = lastItem(words);
      words.pop();
      const terms = await prefixTerms(beginning);
      ways.push(terms ? `(${terms.map((one) => `"${one}"`).join(" OR ")})` : `"${beginning}" *`);
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

/** Regex for consecutive words; an open last word may continue. */
const phraseOf = (words: readonly string[], isOpen: boolean): RegExp =>
  new RegExp(`(?<!${inWords})${words.map(spelled).join(between)}${isOpen ? "" : `(?!${inWords})`}`, "u");

/** Returns the query as a normalized id prefix, or null if it is none. */
export function idOf(query: string): string | null {
  const text = query.trim().toLowerCase();
  return /^[a-z]{2,5}_[0-9a-z]{0,26}$/.test(text) ? text : null;
}
