import type { Database } from "bun:sqlite";
import { nameOf, type Scope } from "../core/scope.ts";
import { createFairQueue } from "../lib/fair/queue.ts";
import { inSlices } from "../lib/slices.ts";
import type { Words } from "./query.ts";

const perRead = 32;
// Of one owner, and of another beside it.
const places = { count: 2, reserve: 1 };
const nobodyLeaves = new AbortController().signal;

/** Numbers of documents; both ends are outside. */
interface Range {
  low: number;
  high: number;
}

export const everywhere: Range = { low: Number.MIN_SAFE_INTEGER, high: Number.MAX_SAFE_INTEGER };

interface Asked<Row> {
  scope: Scope;
  words: Words | null;
  within: Range;
  descending: boolean;
  most: number;
  /** Whoever asks, as long as they are there. */
  signal?: AbortSignal | undefined;
  /** Documents of a range that have the words, in their order. */
  select: (range: Range, limit: number) => readonly Row[];
}

/**
 * Finds documents, also by words that stand one behind the other. FTS5 would compare all places of such words in document
 * after document until one has them so, and nobody else would be served meanwhile: it is asked for the words alone, and how
 * they stand is looked at here, in slices.
 */
export function createMatches(sqlite: Database) {
  const queue = createFairQueue(places);
  const selectText = sqlite.query<{ title: string; text: string }, [number]>(
    "SELECT title, text FROM search_words WHERE rowid = ?",
  );

  async function standing<Row extends { number: number }>(asked: Asked<Row>, stand: NonNullable<Words["stand"]>) {
    const rest = inSlices(() => asked.signal?.throwIfAborted());
    const found: Row[] = [];
    for (let range = asked.within; ; ) {
      const rows = asked.select(range, perRead);
      for (const row of rows) {
        const words = selectText.get(row.number);
        if (words && stand(words.title, words.text)) found.push(row);
        if (found.length === asked.most) return found;
        await rest();
      }
      if (rows.length < perRead) return found;
      range = { ...range, [asked.descending ? "high" : "low"]: rows.at(-1)!.number };
    }
  }

  return async <Row extends { number: number }>(asked: Asked<Row>): Promise<readonly Row[]> => {
    const stand = asked.words?.stand;
    if (!stand) return asked.select(asked.within, asked.most);
    return await queue.run(nameOf(asked.scope), asked.signal ?? nobodyLeaves, () => standing(asked, stand));
  };
}
