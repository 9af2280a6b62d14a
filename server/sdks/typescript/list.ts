import type { Client, Query, RequestOptions } from "./client.ts";
import { UnexpectedResponseError } from "./errors.ts";

/** One page of a list, newest first unless `order` is set. */
export interface Page<T> {
  data: T[];
  has_more: boolean;
  first_id: string | null;
  last_id: string | null;
}

/**
 * A list: `for await (const item of list)` iterates over all items of all pages, `await list` returns the first page.
 */
export class List<T> implements AsyncIterable<T>, PromiseLike<Page<T>> {
  readonly #read: (cursor: Query) => Promise<Page<T>>;
  readonly #backward: boolean;

  constructor(client: Client, path: string, query?: Query, options?: RequestOptions) {
    this.#backward = (query as { ending_before?: string } | undefined)?.ending_before !== undefined;
    this.#read = async (cursor) => {
      const page = await client.json<Page<T>>("GET", path, { ...options, query: { ...query, ...cursor } });
      if (!Array.isArray(page.data)) throw new UnexpectedResponseError(`${path} did not return a list.`);
      return page;
    };
  }

  // biome-ignore lint/suspicious/noThenProperty: awaited, a list is its first page.
  then<A = Page<T>, B = never>(
    done?: ((page: Page<T>) => A | PromiseLike<A>) | null,
    failed?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#read(undefined).then(done, failed);
  }

  /** Iterates over the pages. */
  async *pages(): AsyncGenerator<Page<T>, void, undefined> {
    let cursor: Query;
    let before: string | null = null;
    for (;;) {
      const page = await this.#read(cursor);
      yield page;
      const next = (this.#backward ? page.first_id : page.last_id) ?? null;
      if (!page.has_more || next === null) return;
      if (next === before) throw new UnexpectedResponseError("The server returned the same page again.");
      before = next;
      cursor = this.#backward ? { ending_before: next } : { starting_after: next };
    }
  }

  /** Iterates over all items. With `ending_before`: those before it, the nearest first. */
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const { data } of this.pages()) yield* this.#backward ? data.toReversed() : data;
  }

  /** Returns all items, or the first `limit`. */
  async toArray({ limit = Number.POSITIVE_INFINITY }: { limit?: number } = {}): Promise<T[]> {
    const items: T[] = [];
    if (limit < 1) return items;
    for await (const item of this) {
      items.push(item);
      if (items.length >= limit) break;
    }
    return items;
  }
}
