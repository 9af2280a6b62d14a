import { indexedWords, oneSpelling, wordText } from "./word-text.ts";

// Words that nearly every English text has. As a query's only words they are kept.
const stopWords = new Set(
  `a about above after again all also am an and any are as at be because been before being between both but by can could
   did do does doing down during each few for from further had has have having he her here hers him his how i if in into
   is it its itself just me more most my no nor not of off on once only or other our out over own please s same she
   should so some such t than that the their them then there these they this those through to too under until up very
   was we were what when where which while who whom why will with would you your yours`.split(/\s+/),
);

const most = { words: 24, phrases: 8 };

/** As FTS5 cuts texts: runs of letters and digits, of whatever script, with the marks upon them. */
const word = /[\p{L}\p{N}\p{Co}\p{M}]+/gu;
/** What stands in quotes, and what is written in one: an identifier, an address, a name with a hyphen. */
const together = /"([^"]+)"|([^\s"]+)/g;

export interface Terms {
  /** That say something. */
  words: string[];
  /** Several words that belong together, each with those of its words that say something. */
  phrases: { phrase: string; words: string[] }[];
}

/** What a query asks for. Whatever FTS5 could read out of it besides words is text: nothing but words is left. */
export function termsOf(query: string): Terms {
  const text = oneSpelling(query.toWellFormed()).toLowerCase();
  const all = wordsOf(text);
  const telling = all.filter((each) => !stopWords.has(each));
  const words = (telling.length > 0 ? telling : all).slice(0, most.words);
  const phrases = [...text.matchAll(together)]
    .map(([found]) => ({ phrase: (wordText(found).match(word) ?? []).join(" "), words: wordsOf(found) }))
    .filter(({ phrase, words }) => words.length > 1 && words.length <= most.words && !words.includes(phrase))
    .map(({ phrase, words: parts }) => ({ phrase, words: parts.filter((part) => words.includes(part)) }));
  return { words, phrases: phrases.slice(0, most.phrases) };
}

const wordsOf = (text: string) => [...new Set(text.match(word)?.flatMap(indexedWords))];

/** As a term of an FTS5 query. Words hold no quote that could end it. */
export const quoted = (words: string): string => `"${words}"`;
