import type { Database } from "bun:sqlite";
import { type Candidate, createHighest } from "./int8-rows.ts";
import { findBesideMeaning, findByAllWords, findByWords, type KeywordHits } from "./keyword.ts";
import { createLoadedStores, type LoadedStore, partsOf } from "./loaded-stores.ts";
import type { Match, SearchOrder } from "./messages.ts";
import { openPassages, type Passage, type Passages } from "./passages.ts";
import { cosinesOf, vectorsBy } from "./stored-vectors.ts";

export interface Search {
  /** One search, which yields where others may go on and where it may be left. */
  run(order: SearchOrder): Generator<void, Match[]>;
  forget(storeNumber: number): void;
  removed(storeNumber: number, numbers: readonly number[]): void;
}

interface SearchOptions {
  most_bytes: number;
  /** Where the vectors of large stores are kept for the next start; null: nowhere. */
  folder: string | null;
  /** Whether the connection is the search's own, to begin transactions on as it likes. */
  own: boolean;
}

/** A chunk compared exactly. `rank` is what it is sorted by: below 0 where its score stops at 0. */
type Scored = Omit<Match, keyof Passage> & { number: number; rank: number };

/** Below so many chunks of one scope, all are compared as they are stored, and nothing is loaded. */
const few = 128;
/** Of so many chunks at once it is looked up whether they may be seen. */
const looked_at_once = 2048;
/** Beyond so many that turned out to be deleted or expired, all that may be seen are listed first. */
const most_asked = 4096;

/** Searches stores of one database. */
export function createSearch(sqlite: Database, { most_bytes, folder, own }: SearchOptions): Search {
  const stores = createLoadedStores(sqlite, { most_bytes, folder });

  /** Reads one state of the database. */
  function still<Result>(read: () => Result): Result {
    return own ? sqlite.transaction(read)() : read();
  }

  function* run(order: SearchOrder): Generator<void, Match[]> {
    requireVector(order);
    if (order.mode === "keyword") return yield* byWords(order);
    const found = still(() => listFew(order));
    if (found) return found;
    let loaded = stores.get(order.store);
    for (;;) {
      if (loaded && isLimited(order)) yield* loaded.learn();
      const found = still(() => fromMemory(order, loaded));
      if (found) return found;
      // Not given away before it is used: with little memory, stores that load by turns would push each other out.
      loaded = yield* stores.load(order.store);
      if (!loaded) return yield* fromParts(order);
    }
  }

  /** By the words that tell most, unless they find too little: then by all. */
  function* byWords(order: SearchOrder): Generator<void, Match[]> {
    const { store, query, top_k } = order;
    const telling = still(() => findByWords(sqlite, store.number, query));
    const found = yield* bestByWords(order, telling.scores);
    if (!telling.partial || found.length >= top_k) return found;
    yield;
    return yield* bestByWords(order, still(() => findByAllWords(sqlite, store.number, query)).scores);
  }

  /** The best of some chunks that may be seen. */
  function* bestByWords(order: SearchOrder, scores: KeywordHits["scores"]): Generator<void, Match[]> {
    const found: number[] = [];
    for (const some of ranked(scores, isLimited(order) ? looked_at_once : 2 * order.top_k)) {
      const seen = still(() => openPassages(sqlite, order)?.among(some));
      found.push(...some.filter((number) => seen?.has(number)));
      if (found.length >= order.top_k) break;
      yield;
    }
    return still(() => {
      const passages = openPassages(sqlite, order);
      // Once more, for what was deleted since it was looked at.
      const seen = passages?.among(found);
      if (!passages || !seen) return [];
      const left = found.filter((number) => seen.has(number));
      return finish(
        order,
        passages,
        left.map((number) => keywordOnly(number, scores.get(number)!)),
      );
    });
  }

  /** The matches if somebody's own chunks are but few: null if they are many, or the store is everybody's. */
  function listFew(order: SearchOrder): Match[] | null {
    if (order.scope_id === "") return null;
    const passages = openPassages(sqlite, order);
    if (!passages) return [];
    const own = passages.ofScope(few + 1);
    if (own.length > few) return null;
    return finish(order, passages, compareAll(order, [...passages.among(own)], wordsOf(order)));
  }

  /** Null if the store must be loaded first. */
  function fromMemory(order: SearchOrder, loaded: LoadedStore | null): Match[] | null {
    if (!loaded) return null;
    if (!loaded.refresh()) {
      stores.forget(order.store.number);
      return null;
    }
    const passages = openPassages(sqlite, order);
    if (!passages) return [];
    const hits = wordsOf(order);
    return finish(order, passages, compareAll(order, nearest(loaded, passages, order, hits), hits));
  }

  /** A store that is larger than the memory: slow, and right. */
  function* fromParts(order: SearchOrder): Generator<void, Match[]> {
    const { top_k: most, vector } = order;
    const { hits, seen } = still(() => ({ hits: wordsOf(order), seen: openPassages(sqlite, order)?.all() }));
    if (!seen) return [];
    const isAllowed = createNumberSet(seen);
    let near: Candidate[] = [];
    for (const rows of partsOf(sqlite, order.store, most_bytes)) {
      const { candidates } = rows.nearest({ query: vector!, most, isAllowed, extras: hits?.scores });
      near = [...near, ...candidates];
      near = within(near, floorOf(near, most));
      yield;
    }
    return still(() => {
      const passages = openPassages(sqlite, order);
      if (!passages) return [];
      return finish(order, passages, compareAll(order, [...passages.among(numbersOf(near))], hits));
    });
  }

  const wordsOf = ({ mode, store, query }: SearchOrder) =>
    mode === "hybrid" ? findBesideMeaning(sqlite, store.number, query) : null;

  /** Compares the given chunks exactly. */
  function compareAll(order: SearchOrder, numbers: readonly number[], hits: KeywordHits | null): Scored[] {
    const found = cosines(order, numbers);
    if (!hits) return found.map(([number, vector]) => vectorOnly(number, vector));
    return found.map(([number, vector]) => both(number, vector, hits.scores.get(number) ?? 0));
  }

  const cosines = ({ store, vector }: SearchOrder, numbers: readonly number[]) => [
    ...cosinesOf(sqlite, store, numbers, vector!),
  ];

  function finish(order: SearchOrder, passages: Passages, scored: readonly Scored[]): Match[] {
    const { store, top_k, score_threshold, with_vectors = false } = order;
    const best = scored
      .filter(({ score }) => score >= (score_threshold ?? 0))
      .sort((a, b) => b.rank - a.rank || a.number - b.number)
      .slice(0, top_k);
    const numbers = best.map(({ number }) => number);
    const texts = passages.read(numbers);
    const vectors = with_vectors ? vectorsBy(sqlite, store, numbers) : null;
    return best.map(({ number, score, score_parts }) => ({
      ...texts.get(number)!,
      score,
      score_parts,
      ...(vectors && { vector: vectors.get(number) ?? null }),
    }));
  }

  return { run, forget: stores.forget, removed: stores.removed };
}

function requireVector({ mode, vector, store }: SearchOrder): void {
  if (mode === "keyword") return;
  if (vector?.length !== store.dimensions)
    throw new RangeError(`A search by ${mode} needs a vector of ${store.dimensions} dimensions.`);
  if (!vector.every(Number.isFinite)) throw new RangeError("The query's vector is not finite.");
}

/** Whether an order sees less than its store holds. */
const isLimited = ({ scope_id, filter }: SearchOrder) => scope_id !== "" || filter !== null;

/** The chunks that may be seen among which the nearest are; where all are, if they are fewer than asked for. */
function nearest(loaded: LoadedStore, passages: Passages, order: SearchOrder, hits: KeywordHits | null): number[] {
  const { rows } = loaded;
  const { top_k: wanted, vector } = order;
  const asked = { query: vector!, extras: hits?.scores };
  if (isLimited(order)) for (const _ of loaded.learn()); // What came just now.
  const isAllowed = isLimited(order) ? loaded.allowed(order) : undefined;
  // Some more than are wanted, so that one that may not be seen costs no second look.
  for (let most = wanted + 4; isAllowed !== null && most <= most_asked; most *= 4) {
    const { candidates, floor } = rows.nearest({ ...asked, most, isAllowed });
    const seen = passages.among(numbersOf(candidates));
    if (seen.size < candidates.length)
      rows.remove(passages.gone(numbersOf(candidates).filter((number) => !seen.has(number))));
    const left = candidates.filter(({ number }) => seen.has(number));
    const ownFloor = floorOf(left, wanted);
    // Whoever is no candidate is below the floor, and so not among the nearest that may be seen.
    if (ownFloor >= floor) return numbersOf(within(left, ownFloor));
  }
  const { candidates } = rows.nearest({ ...asked, most: wanted, isAllowed: createNumberSet(passages.all()) });
  return numbersOf(candidates);
}

/** So much at least the nearest of some score. */
function floorOf(candidates: readonly Candidate[], most: number): number {
  const highest = createHighest(most);
  for (const { low } of candidates) highest.offer(low);
  return highest.least;
}

const within = (candidates: readonly Candidate[], floor: number) => candidates.filter(({ high }) => high >= floor);

const numbersOf = (candidates: readonly Candidate[]) => candidates.map(({ number }) => number);

/** Chunks by their scores, some at a time: so many first, which are found without putting all in order. */
function* ranked(scores: KeywordHits["scores"], first: number): Generator<number[]> {
  const highest = createHighest(first);
  for (const score of scores.values()) highest.offer(score);
  const best = [...scores].filter(([, score]) => score >= highest.least);
  yield inOrder(best).slice(0, first);
  if (scores.size <= first) return;
  const all = inOrder([...scores]);
  for (let from = first; from < all.length; from += looked_at_once) yield all.slice(from, from + looked_at_once);
}

const inOrder = (scored: [number: number, score: number][]) =>
  scored.sort(([a, first], [b, second]) => second - first || a - b).map(([number]) => number);

const vectorOnly = (number: number, cosine: number): Scored => {
  const vector = bounded(cosine);
  return { number, rank: Math.min(1, cosine), score: vector, score_parts: { vector, keyword: null } };
};

const keywordOnly = (number: number, keyword: number): Scored => ({
  number,
  rank: keyword,
  score: keyword,
  score_parts: { vector: null, keyword },
});

const both = (number: number, cosine: number, keyword: number): Scored => {
  const vector = bounded(cosine);
  const mean = (nearness: number) => (nearness + keyword) / 2;
  const rank = mean(keyword > 0 ? vector : Math.min(1, cosine));
  return { number, rank, score: mean(vector), score_parts: { vector, keyword } };
};

/** Opposite directions are as unlike as can be; rounding may lift a cosine above 1. */
const bounded = (cosine: number) => Math.min(1, Math.max(0, cosine));

/** Whether a number is one of the given: asked for each of a store's chunks, so it takes a bit for each that could be. */
function createNumberSet(numbers: readonly number[]): (number: number) => boolean {
  const least = numbers.reduce((least, number) => Math.min(least, number), Number.POSITIVE_INFINITY);
  const most = numbers.reduce((most, number) => Math.max(most, number), 0);
  const bits = new Uint8Array(numbers.length === 0 ? 0 : ((most - least) >> 3) + 1);
  for (const number of numbers) bits[Math.floor((number - least) / 8)]! |= 1 << ((number - least) % 8);
  return (number) => (bits[Math.floor((number - least) / 8)]! & (1 << ((number - least) % 8))) !== 0;
}
