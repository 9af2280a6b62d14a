import { nameOf, type Scope } from "../core/scope.ts";
import { AppendRefused } from "../journal/journal.ts";
import { createFairQueue, type FairQueue } from "../lib/fair/queue.ts";

export type ModelPlaces = ReturnType<typeof createModelPlaces>;

interface Line {
  count: number;
  /** How many are in use. */
  taken: number;
  waiting: number;
  queue: FairQueue;
  /** Aborted when another number counts: who waits goes over to the new line. */
  replaced: AbortController;
}

/** A run that has a place, or waits for one. */
interface Guest {
  run_id: string;
  end: AbortController;
}

/**
 * Places at the servers behind connections, of which each takes so many calls at once. Here on the main thread, since runs
 * of all threads share them. Projects and environments take turns, and none is kept free: what one does not use, others do.
 */
export function createModelPlaces({ countOf }: { countOf(connection: string): number | null }) {
  const lines = new Map<string, Line>();
  const guests = new Map<number, Guest>();
  let count = 0;

  function lineOf(connection: string, places: number): Line {
    const known = lines.get(connection);
    if (known?.count === places) return known;
    const queue = createFairQueue({ count: places, reserve: 0 });
    const line = { count: places, taken: 0, waiting: 0, queue, replaced: new AbortController() };
    lines.set(connection, line);
    known?.replaced.abort();
    return line;
  }

  /** Returns once there is a place, which is kept until it is freed, or its run is driven no more. */
  async function take(run: Scope & { run_id: string }, connection: string): Promise<number> {
    const end = new AbortController();
    const place = ++count;
    guests.set(place, { run_id: run.run_id, end });
    while (!end.signal.aborted) {
      const places = countOf(connection);
      if (places === null) return place;
      if (await seated(lineOf(connection, places), nameOf(run), end.signal)) return place;
    }
    guests.delete(place);
    throw new AppendRefused("Nobody waits.");
  }

  /** Does what is no run's call as soon as there is a place. Throws the signal's reason where that is aborted before. */
  async function during<T>(owner: Scope, connection: string, signal: AbortSignal, call: () => Promise<T>): Promise<T> {
    const end = new AbortController();
    const over = AbortSignal.any([end.signal, signal]);
    try {
      for (;;) {
        signal.throwIfAborted();
        const places = countOf(connection);
        if (places === null) break;
        if (await seated(lineOf(connection, places), nameOf(owner), over)) break;
      }
      return await call();
    } finally {
      end.abort();
    }
  }

  function free(place: number): void {
    const guest = guests.get(place);
    guests.delete(place);
    guest?.end.abort();
  }

  return {
    take,
    free,
    during,
    /** Of connections with a limit that have been used. */
    figures: () =>
      Array.from(lines, ([connection, { count, taken, waiting }]) => ({ connection, count, taken, waiting })),
    /** To be told that a run is driven no more: what it has or waits for goes to others. */
    leave(runId: string): void {
      for (const [place, { run_id }] of guests) if (run_id === runId) free(place);
    },
  };
}

/** True once the owner has a place, which it keeps until `end`; false where it ended or the line was replaced before. */
function seated(line: Line, owner: string, end: AbortSignal): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const over = (isSeated: boolean) => {
    line.waiting--;
    resolve(isSeated);
  };
  const sit = () =>
    new Promise<void>((leave) => {
      line.taken++;
      over(true);
      end.addEventListener("abort", () => leave(), { once: true });
    }).finally(() => line.taken--);
  line.waiting++;
  line.queue.run(owner, AbortSignal.any([end, line.replaced.signal]), sit).catch(() => over(false));
  return promise;
}
