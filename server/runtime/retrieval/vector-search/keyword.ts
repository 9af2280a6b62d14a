import type { Database } from "bun:sqlite";
import { foldText, invisible, searchSpelling } from "../../../domain/search-spelling.ts";
import { exactMatchBoost } from "./exact-match-boost.ts";
import { languages, stemOf } from "./languages.ts";
import { corrections, isSpelled } from "./spellings.ts";
import { searchedWords } from "./tables.ts";
import { indexedWords, oneSpelling, phraseText, readWord, untranscribed } from "./word-text.ts";

/** Maximum rows matched by a query's words: bm25 takes half a microsecond per row. */
const most_rows = 4000;
/** Maximum factor of bm25 on a word's weight, reached by a chunk of hardly more than this word: its k1 plus 1. */
const most_times = 2.2;
/** Tuned together with the keyword weight on one half of several question sets. */
const worth = { half: 0.5, power: 2.5 };

/** Chunks that contain words of a query. */
export interface KeywordHits {
  /**
   * Score from 0 to 1 per chunk with one of the words: its bm25 divided by the maximum possible. Comparable between
   * stores of any size, unlike bm25, which grows with the store.
   */
  scores: ReadonlyMap<number, number>;
  /** True if words were left out because too many chunks have them. */
  partial: boolean;
}

/** Searches by the rarest words, up to the row limit. */
export function findByWords(sqlite: Database, storeNumber: number, query: string): KeywordHits {
  return findByRarestWords(sqlite, lookUp(sqlite, storeNumber, query));
}

/**
 * Keyword scores for a hybrid search. Each score is multiplied by a factor for the share of the query's words that the
 * chunk has: a rare word asked alone counts in full, a few words of a long question hardly. With mistyped words the
 * vector misleads, so keyword scores count up to twice. For a query of one word, a chunk with that word scores at least
 * half, and so ranks before chunks of similar meaning.
 */
export function findForHybrid(sqlite: Database, storeNumber: number, query: string): KeywordHits {
  const known = lookUp(sqlite, storeNumber, query);
  const { scores, partial } = findByRarestWords(sqlite, known);
  const isOne = known.words.length === 1;
  const mistyped = weightOf(known.words.filter(({ is_corrected }) => is_corrected)) / weightOf(known.words);
  const scoreWithShare = (score: number, share: number) =>
    isOne && share === 1 ? (1 + score) / 2 : Math.min(1, (1 + mistyped) * score * shareFactor(share));
  const shares = sharesOf(sqlite, known, rarest(known.words));
  return {
    scores: new Map([...scores].map(([number, score]) => [number, scoreWithShare(score, shares.get(number) ?? 0)])),
    partial,
  };
}

/**
 * Returns a factor from 0 to 1, steep around half: few matching words may be accidental, and of many the last ones
 * matter little.
 */
function shareFactor(share: number): number {
  const [half, power] = [worth.half ** worth.power, share ** worth.power];
  return ((1 + half) * power) / (half + power);
}

const weightOf = (words: readonly MatchedWord[]): number => sum(words.map(({ weight }) => weight));

/** Returns the share of the query that each chunk has, weighted by words, from 0 to 1. */
function sharesOf(
  sqlite: Database,
  { table, words }: QueryTerms,
  rareWords: readonly MatchedWord[],
): Map<number, number> {
  using statement = sqlite.prepare<unknown, [string]>(`SELECT rowid FROM ${table} WHERE ${table} MATCH ?`);
  const all = weightOf(words);
  const shares = new Map<number, number>();
  const add = (number: number, share: number) => shares.set(number, (shares.get(number) ?? 0) + share);
  for (const { forms, weight } of rareWords) {
    const best = new Map<number, number>();
    // Best factor among the forms that the store has: a mistyped word counts in full as its correction.
    const nearest = Math.max(...forms.map(({ factor }) => factor));
    for (const { term, factor, exactChunks } of forms.toReversed())
      for (const number of exactChunks ?? (statement.values(quoted(term)) as [number][]).map(([number]) => number))
        best.set(number, factor);
    for (const [number, factor] of best) add(number, ((factor / nearest) * weight) / all);
  }
  return shares;
}

function findByRarestWords(sqlite: Database, { table, words, phrases }: QueryTerms): KeywordHits {
  const contentWords = rarest(words);
  // A phrase is in no more chunks than its rarest word.
  const plain = new Set(contentWords.map(({ plain }) => plain));
  const kept = phrases.filter((phrase) => phrase.words.some((each) => plain.has(each)));
  return { scores: scoresOf(sqlite, table, contentWords, kept), partial: contentWords.length < words.length };
}

/** Searches by all words, however frequent: tens of milliseconds for a hundred thousand chunks. */
export function findByAllWords(sqlite: Database, storeNumber: number, query: string): KeywordHits {
  const { table, words, phrases } = lookUp(sqlite, storeNumber, query);
  return { scores: scoresOf(sqlite, table, words, phrases), partial: false };
}

/** A word of a query with its indexed forms, the requested one first. */
interface MatchedWord {
  plain: string;
  forms: CountedForm[];
  /** Approximate number of chunks with one of the forms, counted up to a limit. */
  count: number;
  /** Inverse document frequency of the requested form. */
  weight: number;
  /** True if the store does not have the word, and similar words replace it. */
  is_corrected: boolean;
}

interface Form {
  /** A word, or several in sequence. */
  term: string;
  /** Factor relative to the requested form. */
  factor: number;
}

interface CountedForm extends Form {
  weight: number;
  /** Chunks with the term that count; null: all. */
  exactChunks: ReadonlySet<number> | null;
}

/** Factors of another form, of a correction, and of the stem of a rare word asked alone. */
const factors = { form: 0.9, correction: 0.8, stem: 0.05 };

interface QueryTerms {
  table: string;
  words: MatchedWord[];
  phrases: MatchedPhrase[];
}

function lookUp(sqlite: Database, storeNumber: number, query: string): QueryTerms {
  const { table, spellings } = searchedWords(sqlite, storeNumber);
  using counting = sqlite.prepare<{ count: number }, [string]>(
    `SELECT count(*) AS count FROM (SELECT 1 FROM ${table} WHERE ${table} MATCH ? LIMIT ${most_rows + 1})`,
  );
  const countOf = (term: string) => counting.get(quoted(term))?.count ?? 0;
  const spoken = languages.filter(({ mark }) => countOf(`${mark}${mark}`) > 0);
  const { words, phrases } = termsOf(query);
  const weigh = createWeights(sqlite, table);

  function known(plain: string, forms: readonly Form[]): MatchedWord {
    const counted = forms.map((form) => ({ ...form, count: countOf(form.term) })).filter(({ count }) => count > 0);
    const weightedForms = counted.map((form) => ({ ...form, exactChunks: null, weight: weigh(form.term, form.count) }));
    const exact = exactForm(plain, counted);
    const weight = exact?.weight ?? weightedForms[0]?.weight ?? weigh(plain, 0);
    return {
      plain,
      forms: exact ? [exact, ...weightedForms] : weightedForms,
      weight,
      is_corrected: false,
      count: sum(counted.map(({ count }) => count)),
    };
  }

  function exactForm(plain: string, [form, ...others]: (Form & { count: number })[]): CountedForm | null {
    if (!spellings || form?.term !== plain) return null;
    const found = { count: form.count, has_others: others.length > 0 };
    const exactChunks = exactMatchBoost(sqlite, { table, spellings }, plain, found);
    return exactChunks && { term: plain, factor: 1, exactChunks, weight: weigh(plain, form.count) };
  }

  function lookUpWord({ plain, others }: QueryWord): MatchedWord[] {
    const stems = spoken.map((language) => stemOf(language, plain)).filter((stem) => stem !== null);
    const found = known(plain, [
      { term: plain, factor: 1 },
      ...[...others, ...stems].map((term) => ({ term, factor: factors.form })),
    ]);
    if (found.count > 0 || !spellings || !isSpelled(plain)) return [found];
    const correctedWords = corrections(sqlite, spellings, plain);
    if (correctedWords.some((each) => stopWords.has(each))) return [];
    const corrected = correctedWords.map((term) => ({ term, factor: factors.correction }));
    return [{ ...known(plain, corrected), is_corrected: corrected.length > 0 }];
  }

  const counted = phrases.map((phrase) => ({ ...phrase, count: countOf(phrase.phrase) }));
  return {
    table,
    words: demoteStems(words.flatMap(lookUpWord)),
    // A phrase without matches has weight 0, because its words already count.
    phrases: counted.map((each) => ({ ...each, weight: each.count === 0 ? 0 : weigh(each.phrase, each.count) })),
  };
}

/**
 * Reduces the factor of a rare word's stem if another chunk has the exact word: the more, the larger the word's share
 * of the query.
 */
function demoteStems(words: readonly MatchedWord[]): MatchedWord[] {
  const all = weightOf(words);
  return words.map(({ forms: [first, ...others], ...word }) => {
    if (!first?.exactChunks) return { ...word, forms: first ? [first, ...others] : [] };
    const kept = 1 - (1 - factors.stem) * (word.weight / all) ** 2;
    return { ...word, forms: [first, ...others.map((form) => ({ ...form, factor: kept * form.factor }))] };
  });
}

function rarest(words: readonly MatchedWord[]): MatchedWord[] {
  let rows = 0;
  return words
    .toSorted((a, b) => a.count - b.count)
    .filter(({ count }) => {
      rows += count;
      return rows <= most_rows;
    });
}

function scoresOf(
  sqlite: Database,
  table: string,
  words: readonly MatchedWord[],
  phrases: readonly MatchedPhrase[],
): Map<number, number> {
  const read = (terms: readonly string[]): [number, number][] => {
    if (terms.length === 0) return [];
    using statement = sqlite.prepare<unknown, [string]>(
      `SELECT rowid, -bm25(${table}) FROM ${table} WHERE ${table} MATCH ?`,
    );
    return statement.values(terms.map(quoted).join(" OR ")) as [number, number][];
  };
  const isPlain = ({ forms: [first, ...others] }: MatchedWord) => others.length === 0 && (first?.factor ?? 1) === 1;
  const plain = words.filter(isPlain).flatMap(({ forms }) => forms.map(({ term }) => term));
  const sums = new Map(read([...plain, ...phrases.map(({ phrase }) => phrase)]));
  for (const word of words.filter((word) => !isPlain(word)))
    for (const [number, bm25] of bestOf(word, read)) sums.set(number, (sums.get(number) ?? 0) + bm25);
  const most = most_times * sum([...words, ...phrases].map(({ weight }) => weight));
  return new Map([...sums].map(([number, bm25]) => [number, Math.min(1, bm25 / most)]));
}

/** Returns each chunk's best score over the forms of a word. No form weighs more than the requested one. */
function bestOf(
  { forms, weight: queryWeight }: MatchedWord,
  read: (terms: readonly string[]) => [number, number][],
): Map<number, number> {
  const best = new Map<number, number>();
  for (const { term, factor, weight, exactChunks } of forms) {
    const share = factor * Math.min(1, queryWeight / weight);
    for (const [number, bm25] of read([term]))
      if (!exactChunks || exactChunks.has(number)) best.set(number, Math.max(best.get(number) ?? 0, share * bm25));
  }
  return best;
}

const sum = (numbers: readonly number[]) => numbers.reduce((sum, number) => sum + number, 0);

/**
 * Returns a function for the inverse document frequency of a term, as in FTS5's bm25; a term without matches weighs
 * most. It takes the counted chunks, and counts exactly if the count reached its limit.
 */
function createWeights(sqlite: Database, table: string): (term: string, count: number) => number {
  const all = chunksIn(sqlite, table);
  const countOf = (term: string): number => {
    using counting = sqlite.prepare<{ count: number }, [string]>(
      `SELECT count(*) AS count FROM ${table} WHERE ${table} MATCH ?`,
    );
    return counting.get(quoted(term))?.count ?? 0;
  };
  return (term, counted) => {
    const count = counted > most_rows ? countOf(term) : counted;
    return Math.max(least_weight, Math.log((all - count + 0.5) / (count + 0.5)));
  };
}

/**
 * Returns the number of chunks in a table of words without reading them: FTS5 stores it as the first varint of its
 * averages record (https://sqlite.org/fts5.html, and "averages record" in its fts5_index.c).
 */
export function chunksIn(sqlite: Database, table: string): number {
  using statement = sqlite.prepare<{ block: Uint8Array }, []>(`SELECT block FROM ${table}_data WHERE id = 1`);
  let count = 0;
  for (const byte of statement.get()?.block ?? []) {
    count = count * 128 + (byte & 127);
    if (byte < 128) break;
  }
  return count;
}

/** Weight of a word that at least half of all chunks have. */
const least_weight = 1e-6;

// Stop words of English; kept if a query has no other words.
const stopWords = new Set(
  `a about above after again all also am an and any are as at be because been before being between both but by can could
   did do does doing down during each few for from further had has have having he her here hers him his how i if in into
   is it its itself just me more most my no nor not of off on once only or other our out over own please s same she
   should so some such t than that the their them then there these they this those through to too under until up very
   was we were what when where which while who whom why will with would you your yours`.split(/\s+/),
);

const most = { words: 24, phrases: 8 };

/** Matches quoted phrases and compound terms: an identifier, an address, a hyphenated name. */
const phrasePattern = /"([^"]+)"|([^\s"]+)/g;

/** A word of a query and its other forms in the index. */
interface QueryWord {
  plain: string;
  others: string[];
}

/** A sequence of words, and those of them that are no stop words. */
interface Phrase {
  phrase: string;
  words: string[];
}

interface MatchedPhrase extends Phrase {
  weight: number;
}

/** Extracts words and phrases from a query. FTS5 operators are treated as text, so only words are left. */
function termsOf(query: string): { words: QueryWord[]; phrases: Phrase[] } {
  const text = oneSpelling(query.toWellFormed());
  const all = wordsOf(text);
  const telling = all.filter(({ plain }) => !stopWords.has(plain));
  const words = (telling.length > 0 ? telling : all).slice(0, most.words);
  const queryWords = new Set(words.map(({ plain }) => plain));
  const phrases = [...text.matchAll(phrasePattern)]
    .map(([found]) => ({ phrase: phraseText(found), words: wordsOf(found).map(({ plain }) => plain) }))
    .filter(({ phrase, words }) => words.length > 1 && words.length <= most.words && !words.includes(phrase))
    .map(({ phrase, words }) => ({ phrase, words: words.filter((each) => queryWords.has(each)) }));
  return { words, phrases: phrases.slice(0, most.phrases) };
}

function wordsOf(text: string): QueryWord[] {
  const all = (text.match(readWord) ?? []).flatMap(indexedWords).map((each): QueryWord => {
    const plain = foldText(each.replace(invisible, ""));
    const [parts, small, bare] = [phraseText(each), each.toLowerCase(), untranscribed(plain)];
    // The original case, for indexes made before words were folded.
    const others = [parts, small, bare, searchSpelling(plain)].filter(
      (form) => form !== null && form !== "" && form !== plain,
    ) as string[];
    return { plain, others: [...new Set(others)] };
  });
  return [...new Map(all.map((each) => [each.plain, each])).values()];
}

/** Quotes words as an FTS5 term. Words contain no quotes. */
const quoted = (words: string): string => `"${words}"`;
