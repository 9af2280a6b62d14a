import { formerWordText, oneSpelling, word } from "../retrieval/search/word-text.ts";
import type { Beginnings } from "./beginnings.ts";

/** What is looked at of a query. */
const mostTerms = 12;

/** A text as it is indexed: letters of scripts that put no space between words stand alone. */
export const searchText = (text: string): string => formerWordText(text.toWellFormed());

/** A text as it was, for people to read. */
const letter = String.raw`[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}]`;
const apart = new RegExp(`(?<=${letter}) +(?=${letter})`, "gv");
export const readable = (text: string): string => text.replace(apart, "").replace(/\s+/g, " ").trim();

/**
 * What people type as an FTS5 expression: all words must be there, those in quotes one behind the other, and of the last one
 * its beginning. Null where there is no word in it. Nothing but words gets into it, so that any text is a query.
 */
export function expressionOf(query: string, beginnings: Beginnings): string | null {
  const terms = [...oneSpelling(query).matchAll(/"([^"]*)"?|[^\s"]+/g)].flatMap(([all, quoted], index, { length }) => {
    const words = searchText(quoted ?? all).match(word);
    // A query that goes on behind its last word is done with it.
    const isOpen = quoted === undefined && index === length - 1 && !/\s$/.test(query);
    return words ? [isOpen ? openTerm(words, beginnings) : `"${words.join(" ")}"`] : [];
  });
  return terms.length > 0 ? `{title text} : (${terms.slice(0, mostTerms).join(" AND ")})` : null;
}

/** Words one behind the other, of which the last goes on. */
function openTerm(words: readonly string[], beginnings: Beginnings): string {
  const before = words.slice(0, -1).map((each) => `${each} `);
  const whole = beginnings(words.at(-1)!);
  return whole === null
    ? `"${words.join(" ")}" *`
    : `(${whole.map((each) => `"${before.join("")}${each}"`).join(" OR ")})`;
}

/** The beginning of an id, in the way ids are written; null for what is none. */
export function idOf(query: string): string | null {
  const text = query.trim().toLowerCase();
  return /^[a-z]{2,5}_[0-9a-z]{0,26}$/.test(text) ? text : null;
}
