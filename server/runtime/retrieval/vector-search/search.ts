import type { Database } from "bun:sqlite";
import { type Candidate, createHighest } from "./int8-rows.ts";
import { findByAllWords, findByWords, findForHybrid, type KeywordHits } from "./keyword.ts";
import { type LoadedStore, LoadedStores, partsOf } from "./loaded-stores.ts";
import type { Match, SearchOrder } from "./messages.ts";
import { openPassages, type Passage, type Passages } from "./passages.ts";
import { cosinesOf, vectorsBy } from "./stored-vectors.ts";

export interface Search {
  /** Runs one search. Yields where other searches may run, and where it can be abandoned. */
  run(order: SearchOrder): Generator<void, Match[]>;
  forget(storeNumber: number): void;
  removed(storeNumber: number, numbers: readonly number[]): void;
}

interface SearchOptions {
  most_bytes: number;
  /** Folder for vector caches of large stores; null: none. */
  folder: string | null;
  /** True if the search has its own connection and may begin transactions. */
  ownsConnection: boolean;
}

/** A search by vector, or by vector and words. */
type VectorOrder = SearchOrder & { vector: Float32Array };

/** An exactly compared chunk. `rank` is the sort key: negative if the score is clamped to 0. */
type Scored = Omit<Match, keyof Passage> & { number: number; rank: number };

/** Up to this number of chunks in a scope, all are compared from disk and the store is not loaded. */
const maxListedChunks = 128;
/** Number of chunks per visibility check. */
const looked_at_once = 2048;
/** Above this number of candidates, many are deleted or expired: list all visible chunks first. */
const most_asked = 4096;

/** Creates the search over the stores of one database. */
export function createSearch(sqlite: Database, { most_bytes, folder, ownsConnection }: SearchOptions): Search {
  const stores = new LoadedStores(sqlite, { most_bytes, folder });

  /** Reads within one transaction. */
  function inSnapshot<Result>(read: () => Result): Result {
    return ownsConnection ? sqlite.transaction(read)() : read();
  }

  function* run(order: SearchOrder): Generator<void, Match[]> {
    if (order.mode === "keyword") return yield* byWords(order);
    requireVector(order);
    const found = inSnapshot(() => listFew(order));
    if (found) return found;
    let loaded = stores.get(order.store);
    for (;;) {
      if (loaded && isLimited(order)) yield* loaded.loadFacts();
      const found = inSnapshot(() => fromMemory(order, loaded));
      if (found) return found;
      // Used at once, because with little memory stores that load in turns would evict each other first.
      loaded = yield* stores.load(order.store);
      if (!loaded) return yield* fromParts(order);
    }
  }

  /** Searches by the rarest words; if that finds too few matches, by all words. */
  function* byWords(order: SearchOrder): Generator<void, Match[]> {
    const { store, query, top_k } = order;
    const firstHits = inSnapshot(() => findByWords(sqlite, store.number, query));
    const found = yield* bestByWords(order, firstHits.scores);
    if (!firstHits.partial || found.length >= top_k) return found;
    yield;
    return yield* bestByWords(order, inSnapshot(() => findByAllWords(sqlite, store.number, query)).scores);
  }

  /** Returns the best visible chunks. */
  function* bestByWords(order: SearchOrder, scores: KeywordHits["scores"]): Generator<void, Match[]> {
    const found: number[] = [];
    for (const some of inScoreOrder(scores, isLimited(order) ? looked_at_once : 2 * order.top_k)) {
      const seen = inSnapshot(() => openPassages(sqlite, order)?.visibleAmong(some));
      found.push(...some.filter((number) => seen?.has(number)));
      if (found.length >= order.top_k) break;
      yield;
    }
    return inSnapshot(() => {
      const passages = openPassages(sqlite, order);
      // Check again, because chunks may have been deleted meanwhile.
      const seen = passages?.visibleAmong(found);
      if (!passages || !seen) return [];
      const left = found.filter((number) => seen.has(number));
      return finish(
        order,
        passages,
        left.map((number) => keywordOnly(number, scores.get(number) ?? 0)),
      );
    });
  }

  /** Returns the matches of a scope with few chunks; null if there are many, or the store has no scopes. */
  function listFew(order: VectorOrder): Match[] | null {
    if (order.scope_id === "") return null;
    const passages = openPassages(sqlite, order);
    if (!passages) return [];
    const own = passages.ofScope(maxListedChunks + 1);
    if (own.length > maxListedChunks) return null;
    return finish(order, passages, compareAll(order, [...passages.visibleAmong(own)], wordsOf(order)));
  }

  /** Returns null if the store must be loaded first. */
  function fromMemory(order: VectorOrder, loaded: LoadedStore | null): Match[] | null {
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

  /** Searches a store that exceeds the memory limit: slow but correct. */
  function* fromParts(order: VectorOrder): Generator<void, Match[]> {
    const { top_k: most, vector } = order;
    const { hits, seen } = inSnapshot(() => ({ hits: wordsOf(order), seen: openPassages(sqlite, order)?.all() }));
    if (!seen) return [];
    const isAllowed = createNumberSet(seen);
    let near: Candidate[] = [];
    for (const rows of partsOf(sqlite, order.store, most_bytes)) {
      const { candidates } = rows.nearest({ query: vector, most, isAllowed, extras: hits?.scores });
      near = [...near, ...candidates];
      near = aboveFloor(near, floorOf(near, most));
      yield;
    }
    return inSnapshot(() => {
      const passages = openPassages(sqlite, order);
      if (!passages) return [];
      return finish(order, passages, compareAll(order, [...passages.visibleAmong(numbersOf(near))], hits));
    });
  }

  const wordsOf = ({ mode, store, query }: SearchOrder) =>
    mode === "hybrid" ? findForHybrid(sqlite, store.number, query) : null;

  /** Compares the given chunks exactly. */
  function compareAll(order: VectorOrder, numbers: readonly number[], hits: KeywordHits | null): Scored[] {
    const found = cosines(order, numbers);
    if (!hits) return found.map(([number, vector]) => vectorOnly(number, vector));
    return found.map(([number, vector]) => hybridScore(number, vector, hits.scores.get(number) ?? 0));
  }

  const cosines = ({ store, vector }: VectorOrder, numbers: readonly number[]) => [
    ...cosinesOf(sqlite, store, numbers, vector),
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
    return best.flatMap(({ number, score, score_parts }) => {
      const text = texts.get(number);
      return text ? { ...text, score, score_parts, ...(vectors && { vector: vectors.get(number) ?? null }) } : [];
    });
  }

  return {
    run,
    forget: (storeNumber) => stores.forget(storeNumber),
    removed: (storeNumber, numbers) => stores.beforeRemove(storeNumber, numbers),
  };
}

function requireVector(order: SearchOrder): asserts order is VectorOrder {
  const { mode, vector, store } = order;
  if (vector?.length !== store.dimensions)
    throw new RangeError(`A search by ${mode} needs a vector of ${store.dimensions} dimensions.`);
  if (!vector.every(Number.isFinite)) throw new RangeError("The query's vector is not finite.");
}

/** True if a search may see only a part of its store. */
const isLimited = ({ scope_id, filter }: SearchOrder) => scope_id !== "" || filter !== null;

/** Returns visible chunks that include the nearest; all of them if there are fewer than requested. */
function nearest(loaded: LoadedStore, passages: Passages, order: VectorOrder, hits: KeywordHits | null): number[] {
  const { rows } = loaded;
  const { top_k: wanted, vector } = order;
  const request = { query: vector, extras: hits?.scores };
  if (isLimited(order)) for (const _ of loaded.loadFacts()); // Facts of rows added just now.
  const isAllowed = isLimited(order) ? loaded.allowed(order) : undefined;
  // Request a few more than wanted, so that one hidden chunk does not cost a second scan.
  for (let most = wanted + 4; isAllowed !== null && most <= most_asked; most *= 4) {
    const { candidates, floor } = rows.nearest({ ...request, most, isAllowed });
    const seen = passages.visibleAmong(numbersOf(candidates));
    if (seen.size < candidates.length)
      rows.remove(passages.deletedAmong(numbersOf(candidates).filter((number) => !seen.has(number))));
    const left = candidates.filter(({ number }) => seen.has(number));
    const ownFloor = floorOf(left, wanted);
    // All other rows are below the floor, so the visible nearest are complete.
    if (ownFloor >= floor) return numbersOf(aboveFloor(left, ownFloor));
  }
  const { candidates } = rows.nearest({ ...request, most: wanted, isAllowed: createNumberSet(passages.all()) });
  return numbersOf(candidates);
}

/** Returns a lower bound for the scores of the `most` nearest. */
function floorOf(candidates: readonly Candidate[], most: number): number {
  const highest = createHighest(most);
  for (const { low } of candidates) highest.offer(low);
  return highest.least;
}

const aboveFloor = (candidates: readonly Candidate[], floor: number) => candidates.filter(({ high }) => high >= floor);

const numbersOf = (candidates: readonly Candidate[]) => candidates.map(({ number }) => number);

/** Yields chunks by score in parts; the first `first` ones are selected without sorting all. */
function* inScoreOrder(scores: KeywordHits["scores"], first: number): Generator<number[]> {
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
  const vector = clampScore(cosine);
  return { number, rank: Math.min(1, cosine), score: vector, score_parts: { vector, keyword: null } };
};

const keywordOnly = (number: number, keyword: number): Scored => ({
  number,
  rank: keyword,
  score: keyword,
  score_parts: { vector: null, keyword },
});

const hybridScore = (number: number, cosine: number, keyword: number): Scored => {
  const vector = clampScore(cosine);
  const mean = (nearness: number) => (nearness + keyword) / 2;
  const rank = mean(keyword > 0 ? vector : Math.min(1, cosine));
  return { number, rank, score: mean(vector), score_parts: { vector, keyword } };
};

/** Opposite vectors score 0; rounding may raise a cosine above 1. */
const clampScore = (cosine: number) => Math.min(1, Math.max(0, cosine));

/** Returns a membership test for the given numbers. It is called for each chunk of a store and so uses a bit set. */
function createNumberSet(numbers: readonly number[]): (number: number) => boolean {
  const least = numbers.reduce((least, number) => Math.min(least, number), Number.POSITIVE_INFINITY);
  const most = numbers.reduce((most, number) => Math.max(most, number), 0);
  const bits = new Uint8Array(numbers.length === 0 ? 0 : ((most - least) >> 3) + 1);
  const byteAt = (place: number): number => bits[Math.floor(place / 8)] ?? 0;
  for (const number of numbers)
    bits[Math.floor((number - least) / 8)] = byteAt(number - least) | (1 << ((number - least) % 8));
  return (number) => (byteAt(number - least) & (1 << ((number - least) % 8))) !== 0;
}
