import type { Database } from "bun:sqlite";
import { exactlyWritten } from "./exactly-written.ts";
import { languages, stemOf } from "./languages.ts";
import { corrections, isSpelled } from "./spellings.ts";
import { searchedWords } from "./tables.ts";
import { folded, indexedWords, oneSpelling, phraseText, untranscribed, word } from "./word-text.ts";

/** How many rows the words of a query may come to: bm25 costs half a microsecond for each. */
const most_rows = 4000;
/** How often bm25 counts a word's weight at most, of a chunk that is hardly more than this word: its k1, and 1. */
const most_times = 2.2;
/** Chosen with the weight of keywords, on one half of several sets of questions. */
const worth = { half: 0.5, power: 2.5 };

/** Chunks that have words of a query. */
export interface KeywordHits {
  /**
   * From 0 to 1, for every chunk that has one of the words: its bm25 as a share of what it could be. So it says how much
   * of the question was found, in a store of four chunks as in one of a hundred thousand, whose bm25 is far larger.
   */
  scores: ReadonlyMap<number, number>;
  /** Whether words were left out since too many chunks have them. */
  partial: boolean;
}

/** Finds by the words that tell most, as many as come to few chunks. */
export function findByWords(sqlite: Database, storeNumber: number, query: string): KeywordHits {
  return findByTelling(sqlite, lookUp(sqlite, storeNumber, query));
}

/**
 * The same for a search by meaning too: each score by how much the share of the question's words says that the chunk has.
 * A rare word that is asked for alone counts in full, a few words of a long question, which may be there by chance, hardly.
 * Mistyped words mislead the meaning, which is that of the question as it is written: so all that is found by words counts up
 * to twice. Of a question of one word, whoever has it is before what means something like it: the score is in the upper half.
 */
export function findBesideMeaning(sqlite: Database, storeNumber: number, query: string): KeywordHits {
  const known = lookUp(sqlite, storeNumber, query);
  const { scores, partial } = findByTelling(sqlite, known);
  const isOne = known.words.length === 1;
  const mistyped = weightOf(known.words.filter(({ is_corrected }) => is_corrected)) / weightOf(known.words);
  const beside = (score: number, share: number) =>
    isOne && share === 1 ? (1 + score) / 2 : Math.min(1, (1 + mistyped) * score * worthOf(share));
  const shares = sharesOf(sqlite, known, rarest(known.words));
  return {
    scores: new Map([...scores].map(([number, score]) => [number, beside(score, shares.get(number)!)])),
    partial,
  };
}

/** From 0 to 1, and steep around the half: some words are there by chance, and of the last ones few are missed. */
function worthOf(share: number): number {
  const [half, power] = [worth.half ** worth.power, share ** worth.power];
  return ((1 + half) * power) / (half + power);
}

const weightOf = (words: readonly KnownWord[]): number => sum(words.map(({ weight }) => weight));

/** How much of a query each chunk has, by the weights of words, from 0 to 1. */
function sharesOf(sqlite: Database, { table, words }: Known, telling: readonly KnownWord[]): Map<number, number> {
  using statement = sqlite.prepare<unknown, [string]>(`SELECT rowid FROM ${table} WHERE ${table} MATCH ?`);
  const all = weightOf(words);
  const shares = new Map<number, number>();
  const add = (number: number, share: number) => shares.set(number, (shares.get(number) ?? 0) + share);
  for (const { forms, weight } of telling) {
    const best = new Map<number, number>();
    // The nearest to what was asked for that the store has: a mistyped word is there as the one that was meant.
    const nearest = Math.max(...forms.map(({ factor }) => factor));
    for (const { term, factor, only } of forms.toReversed())
      for (const number of only ?? (statement.values(quoted(term)) as [number][]).map(([number]) => number))
        best.set(number, factor);
    for (const [number, factor] of best) add(number, ((factor / nearest) * weight) / all);
  }
  return shares;
}

function findByTelling(sqlite: Database, { table, words, phrases }: Known): KeywordHits {
  const telling = rarest(words);
  // Each is in no more chunks than the rarest of its words.
  const plain = new Set(telling.map(({ plain }) => plain));
  const kept = phrases.filter((phrase) => phrase.words.some((each) => plain.has(each)));
  return { scores: scoresOf(sqlite, table, telling, kept), partial: telling.length < words.length };
}

/** The same by all words, however many chunks have them: tens of milliseconds where a hundred thousand do. */
export function findByAllWords(sqlite: Database, storeNumber: number, query: string): KeywordHits {
  const { table, words, phrases } = lookUp(sqlite, storeNumber, query);
  return { scores: scoresOf(sqlite, table, words, phrases), partial: false };
}

/** A word of a query as a store has it: the forms that it knows, the one that was asked for first. */
interface KnownWord {
  plain: string;
  forms: CountedForm[];
  /** How many chunks have one, about: no more than are worth counting. */
  count: number;
  /** How much it tells. */
  weight: number;
  /** Nobody has it: others stand for it that may have been meant. */
  is_corrected: boolean;
}

interface Form {
  /** A word, or several that stand together. */
  term: string;
  /** What it counts against the word as it was asked for. */
  factor: number;
}

interface CountedForm extends Form {
  weight: number;
  /** Of the chunks that have the term those that count; null: all. */
  only: ReadonlySet<number> | null;
}

/** What another form of a word counts, a word that may have been meant, and the mere stem of a rare word asked alone. */
const factors = { form: 0.9, correction: 0.8, stem: 0.05 };

interface Known {
  table: string;
  words: KnownWord[];
  phrases: KnownPhrase[];
}

function lookUp(sqlite: Database, storeNumber: number, query: string): Known {
  const { table, spellings } = searchedWords(sqlite, storeNumber);
  using counting = sqlite.prepare<{ count: number }, [string]>(
    `SELECT count(*) AS count FROM (SELECT 1 FROM ${table} WHERE ${table} MATCH ? LIMIT ${most_rows + 1})`,
  );
  const countOf = (term: string) => counting.get(quoted(term))!.count;
  const spoken = languages.filter(({ mark }) => countOf(`${mark}${mark}`) > 0);
  const { words, phrases } = termsOf(query);
  const weigh = createWeights(sqlite, table);

  function known(plain: string, forms: readonly Form[]): KnownWord {
    const counted = forms.map((form) => ({ ...form, count: countOf(form.term) })).filter(({ count }) => count > 0);
    const weighed = counted.map((form) => ({ ...form, only: null, weight: weigh(form.term, form.count) }));
    const exact = exactForm(plain, counted);
    const weight = exact?.weight ?? weighed[0]?.weight ?? weigh(plain, 0);
    return {
      plain,
      forms: exact ? [exact, ...weighed] : weighed,
      weight,
      is_corrected: false,
      count: sum(counted.map(({ count }) => count)),
    };
  }

  function exactForm(plain: string, [form, ...others]: (Form & { count: number })[]): CountedForm | null {
    if (!spellings || form?.term !== plain) return null;
    const found = { count: form.count, has_others: others.length > 0 };
    const only = exactlyWritten(sqlite, { table, spellings }, plain, found);
    return only && { term: plain, factor: 1, only, weight: weigh(plain, form.count) };
  }

  function lookUpWord({ plain, others }: AskedWord): KnownWord[] {
    const stems = spoken.map((language) => stemOf(language, plain)).filter((stem) => stem !== null);
    const found = known(plain, [
      { term: plain, factor: 1 },
      ...[...others, ...stems].map((term) => ({ term, factor: factors.form })),
    ]);
    if (found.count > 0 || !spellings || !isSpelled(plain)) return [found];
    const meant = corrections(sqlite, spellings, plain);
    if (meant.some((each) => stopWords.has(each))) return [];
    const corrected = meant.map((term) => ({ term, factor: factors.correction }));
    return [{ ...known(plain, corrected), is_corrected: corrected.length > 0 }];
  }

  const counted = phrases.map((phrase) => ({ ...phrase, count: countOf(phrase.phrase) }));
  return {
    table,
    words: exactFirst(words.flatMap(lookUpWord)),
    // The words of a phrase that is nowhere weigh already.
    phrases: counted.map((each) => ({ ...each, weight: each.count === 0 ? 0 : weigh(each.phrase, each.count) })),
  };
}

/** The more of a question a rare word is, the less its stem counts where another passage has it as it was written. */
function exactFirst(words: readonly KnownWord[]): KnownWord[] {
  const all = weightOf(words);
  return words.map(({ forms: [first, ...others], ...word }) => {
    if (!first?.only) return { ...word, forms: first ? [first, ...others] : [] };
    const kept = 1 - (1 - factors.stem) * (word.weight / all) ** 2;
    return { ...word, forms: [first, ...others.map((form) => ({ ...form, factor: kept * form.factor }))] };
  });
}

function rarest(words: readonly KnownWord[]): KnownWord[] {
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
  words: readonly KnownWord[],
  phrases: readonly KnownPhrase[],
): Map<number, number> {
  const read = (terms: readonly string[]): [number, number][] => {
    if (terms.length === 0) return [];
    using statement = sqlite.prepare<unknown, [string]>(
      `SELECT rowid, -bm25(${table}) FROM ${table} WHERE ${table} MATCH ?`,
    );
    return statement.values(terms.map(quoted).join(" OR ")) as [number, number][];
  };
  const isPlain = ({ forms: [first, ...others] }: KnownWord) => others.length === 0 && (first?.factor ?? 1) === 1;
  const plain = words.filter(isPlain).flatMap(({ forms }) => forms.map(({ term }) => term));
  const sums = new Map(read([...plain, ...phrases.map(({ phrase }) => phrase)]));
  for (const word of words.filter((word) => !isPlain(word)))
    for (const [number, bm25] of bestOf(word, read)) sums.set(number, (sums.get(number) ?? 0) + bm25);
  const most = most_times * sum([...words, ...phrases].map(({ weight }) => weight));
  return new Map([...sums].map(([number, bm25]) => [number, Math.min(1, bm25 / most)]));
}

/** Of each chunk the form of a word that scores most. None weighs more than the one that was asked for. */
function bestOf(
  { forms, weight: asked }: KnownWord,
  read: (terms: readonly string[]) => [number, number][],
): Map<number, number> {
  const best = new Map<number, number>();
  for (const { term, factor, weight, only } of forms) {
    const share = factor * Math.min(1, asked / weight);
    for (const [number, bm25] of read([term]))
      if (!only || only.has(number)) best.set(number, Math.max(best.get(number) ?? 0, share * bm25));
  }
  return best;
}

const sum = (numbers: readonly number[]) => numbers.reduce((sum, number) => sum + number, 0);

/**
 * What terms weigh: their inverse document frequency, as FTS5's bm25 has it. A word that is nowhere weighs the most. It is
 * given how many chunks have a term, and counts on where that is more than was counted.
 */
function createWeights(sqlite: Database, table: string): (term: string, count: number) => number {
  const all = chunksIn(sqlite, table);
  const countOf = (term: string): number => {
    using counting = sqlite.prepare<{ count: number }, [string]>(
      `SELECT count(*) AS count FROM ${table} WHERE ${table} MATCH ?`,
    );
    return counting.get(quoted(term))!.count;
  };
  return (term, counted) => {
    const count = counted > most_rows ? countOf(term) : counted;
    return Math.max(least_weight, Math.log((all - count + 0.5) / (count + 0.5)));
  };
}

/**
 * How many chunks a table of words has, without reading them all: FTS5 begins its averages record with it, as a varint
 * (https://sqlite.org/fts5.html, and "averages record" in its fts5_index.c).
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

/** Of a word that at least half of all chunks have. */
const least_weight = 1e-6;

// Words that nearly every English text has. As a query's only words they are kept.
const stopWords = new Set(
  `a about above after again all also am an and any are as at be because been before being between both but by can could
   did do does doing down during each few for from further had has have having he her here hers him his how i if in into
   is it its itself just me more most my no nor not of off on once only or other our out over own please s same she
   should so some such t than that the their them then there these they this those through to too under until up very
   was we were what when where which while who whom why will with would you your yours`.split(/\s+/),
);

const most = { words: 24, phrases: 8 };

/** What stands in quotes, and what is written in one: an identifier, an address, a name with a hyphen. */
const together = /"([^"]+)"|([^\s"]+)/g;

/** A word that is asked for, and what else it may be in the index. */
interface AskedWord {
  plain: string;
  others: string[];
}

/** Several words that belong together, and those of its words that say something. */
interface Phrase {
  phrase: string;
  words: string[];
}

interface KnownPhrase extends Phrase {
  weight: number;
}

/** What a query asks for. Whatever FTS5 could read out of it besides words is text: nothing but words is left. */
function termsOf(query: string): { words: AskedWord[]; phrases: Phrase[] } {
  const text = oneSpelling(query.toWellFormed());
  const all = wordsOf(text);
  const telling = all.filter(({ plain }) => !stopWords.has(plain));
  const words = (telling.length > 0 ? telling : all).slice(0, most.words);
  const asked = new Set(words.map(({ plain }) => plain));
  const phrases = [...text.matchAll(together)]
    .map(([found]) => ({ phrase: phraseText(found), words: wordsOf(found).map(({ plain }) => plain) }))
    .filter(({ phrase, words }) => words.length > 1 && words.length <= most.words && !words.includes(phrase))
    .map(({ phrase, words }) => ({ phrase, words: words.filter((each) => asked.has(each)) }));
  return { words, phrases: phrases.slice(0, most.phrases) };
}

function wordsOf(text: string): AskedWord[] {
  const all = (text.match(word) ?? []).flatMap(indexedWords).map((each): AskedWord => {
    const plain = folded(each);
    const [parts, small, bare] = [phraseText(each), each.toLowerCase(), untranscribed(plain)];
    // As it is written: an index that was made before words were folded has it so.
    const others = [parts, small, bare].filter((form) => form !== null && form !== "" && form !== plain) as string[];
    return { plain, others: [...new Set(others)] };
  });
  return [...new Map(all.map((each) => [each.plain, each])).values()];
}

/** As a term of an FTS5 query. Words hold no quote that could end it. */
const quoted = (words: string): string => `"${words}"`;
