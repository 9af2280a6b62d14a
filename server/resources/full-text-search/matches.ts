import type { Database } from "bun:sqlite";
import { nameOf, type Scope } from "../../domain/scope.ts";
import { lastItem } from "../../lib/collections.ts";
import { createYielder } from "../../lib/cooperative-yield.ts";
import { createFairQueue } from "../../lib/fair-queue/queue.ts";
import type { Words } from "./query.ts";

const perRead = 32;
// One search per owner, and one more for another owner.
const places = { count: 2, reserve: 1 };
const neverAborted = new AbortController().signal;

/** Range of document numbers, exclusive at both ends. */
interface Range {
  low: number;
  high: number;
}

export const everywhere: Range = { low: Number.MIN_SAFE_INTEGER, high: Number.MAX_SAFE_INTEGER };

interface MatchQuery<Row> {
  scope: Scope;
  words: Words | null;
  within: Range;
  descending: boolean;
  most: number;
  /** Aborted when the client disconnects. */
  signal?: AbortSignal | undefined;
  /** Selects documents of a range that have the words, in order. */
  select: (range: Range, limit: number) => readonly Row[];
}

/**
 * Finds documents, also by phrases. FTS5 would compare all positions of a phrase's words in document after document and
 * block other requests; so it is queried for the words alone, and phrases are verified here, in slices.
 */
export function createMatches(sqlite: Database) {
  const queue = createFairQueue(places);
  const selectText = sqlite.query<{ title: string; text: string }, [number]>(
    "SELECT title, text FROM search_words WHERE rowid = ?",
  );

  async function selectMatching<Row extends { number: number }>(
    asked: MatchQuery<Row>,
    matchesPhrases: NonNullable<Words["stand"]>,
  ) {
    const maybeYield = createYielder(() => asked.signal?.throwIfAborted());
    const found: Row[] = [];
    for (let range = asked.within; ; ) {
      const rows = asked.select(range, perRead);
      for (const row of rows) {
        const words = selectText.get(row.number);
        if (words && matchesPhrases(words.title, words.text)) found.push(row);
        if (found.length === asked.most) return found;
        await maybeYield();
      }
      if (rows.length < perRead) return found;
      range = { ...range, [asked.descending ? "high" : "low"]: lastItem(rows).number };
    }
  }

  return async <Row extends { number: number }>(asked: MatchQuery<Row>): Promise<readonly Row[]> => {
    const stand = asked.words?.stand;
    if (!stand) return asked.select(asked.within, asked.most);
    return await queue.run(nameOf(asked.scope), asked.signal ?? neverAborted, () => selectMatching(asked, stand));
  };
}
