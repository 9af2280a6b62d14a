import type { Database } from "bun:sqlite";
import { totalmem } from "node:os";
import { stopping } from "../../../domain/error-messages.ts";
import { AppError } from "../../../domain/errors.ts";
import { searchEntry } from "../../../lib/assets.ts";
import type { Log } from "../../../lib/log.ts";
import { type StartThread, startThread, type Thread } from "../../../lib/start-thread.ts";
import { vectorCacheFolder } from "../../../storage/db/vector-cache.ts";
import type { FromThread, Match, SearchOrder, ToThread } from "./messages.ts";
import { createSearch } from "./search.ts";
import { deleteVectorCache } from "./vector-cache.ts";

export type { Match, SearchOrder } from "./messages.ts";

export interface Searcher {
  /** Searches all data committed before. Rejects with the signal's reason if aborted. */
  search(order: SearchOrder, signal?: AbortSignal): Promise<Match[]>;
  /** Frees the memory of a deleted store. */
  forget(storeNumber: number): void;
  /** Call before chunks of a store are deleted. */
  removed(storeNumber: number, numbers: readonly number[]): void;
  stop(): void;
}

interface SearcherOptions {
  /** Null for an in-memory database, which other threads cannot read: `sqlite` is then searched on this thread. */
  path: string | null;
  sqlite: Database;
  log: Log;
  /** Memory limit for the vectors of recently searched stores. */
  most_bytes?: number;
  start?: StartThread<ToThread, FromThread>;
}

/** Creates a searcher that runs in a thread of its own. */
export function createSearcher(options: SearcherOptions): Searcher {
  const most_bytes = options.most_bytes ?? defaultBytes();
  const { path, sqlite } = options;
  return path === null ? searchHere(sqlite, most_bytes) : searchInThread(path, most_bytes, options);
}

const defaultBytes = () => Math.min(2 ** 31, (process.constrainedMemory() || totalmem()) / 4, totalmem() / 4);

function searchHere(sqlite: Database, most_bytes: number): Searcher {
  const { run, forget, removed } = createSearch(sqlite, { most_bytes, folder: null, ownsConnection: false });
  return {
    async search(order, signal) {
      signal?.throwIfAborted();
      const work = run(order);
      for (;;) {
        const { done, value } = work.next();
        if (done) return value;
      }
    },
    forget,
    removed,
    stop() {},
  };
}

interface Waiting {
  order: SearchOrder;
  resolve(matches: Match[]): void;
  reject(error: unknown): void;
  repeated: boolean;
}

function searchInThread(
  path: string,
  most_bytes: number,
  { log, start = startThread(searchEntry) }: SearcherOptions,
): Searcher {
  const folder = vectorCacheFolder(path);
  const waiting = new Map<number, Waiting>();
  let thread: Thread<ToThread> | null = null;
  let stopped = false;
  let ids = 0;

  function send(id: number, order: SearchOrder): void {
    if (!thread) {
      thread = start(onAnswer, died);
      thread.send({ do: "open", path, most_bytes });
    }
    thread.send({ do: "search", id, order });
  }

  function onAnswer(answer: FromThread): void {
    const search = waiting.get(answer.id);
    waiting.delete(answer.id);
    if ("matches" in answer) search?.resolve(answer.matches);
    else search?.reject(new Error(answer.fault));
  }

  /** Repeats each search once, because a search during which the thread dies twice is likely the cause. */
  function died(reason: string): void {
    thread = null;
    log.error("the search thread died", { reason, searches: waiting.size });
    for (const [id, search] of waiting) {
      if (search.repeated) {
        waiting.delete(id);
        search.reject(new Error(`The search thread died: ${reason}`));
      } else {
        search.repeated = true;
        send(id, search.order);
      }
    }
  }

  function search(order: SearchOrder, signal?: AbortSignal): Promise<Match[]> {
    if (signal?.aborted || stopped) return Promise.reject(signal?.reason ?? over());
    const id = ++ids;
    const answer = Promise.withResolvers<Match[]>();
    const leave = () => {
      waiting.delete(id);
      thread?.send({ do: "abort", id });
      answer.reject(signal?.reason);
    };
    signal?.addEventListener("abort", leave, { once: true });
    waiting.set(id, { order, resolve: answer.resolve, reject: answer.reject, repeated: false });
    send(id, order);
    return answer.promise.finally(() => signal?.removeEventListener("abort", leave));
  }

  return {
    search,
    forget(store) {
      if (thread) thread.send({ do: "forget", store });
      else deleteVectorCache(folder, store);
    },
    removed(store, numbers) {
      if (thread) thread.send({ do: "removed", store, numbers: [...numbers] });
      else deleteVectorCache(folder, store);
    },
    stop() {
      stopped = true;
      thread?.end();
      thread = null;
      for (const { reject } of waiting.values()) reject(over());
      waiting.clear();
    },
  };
}

const over = () => new AppError("shutting_down", stopping, { retryAfter: 5 });
