import { supersededCall } from "../../domain/error-messages.ts";
import { nameOf, type Scope } from "../../domain/scope.ts";
import { createFairQueue, type FairQueue } from "../../lib/fair-queue/queue.ts";
import { AppendRefused } from "../../storage/journal/journal.ts";

export type ModelPlaces = ReturnType<typeof createModelPlaces>;

interface Line {
  count: number;
  /** Number of places in use. */
  taken: number;
  waiting: number;
  queue: FairQueue;
  /** Aborted when the limit changes, so that waiting calls move to the new line. */
  replaced: AbortController;
}

/** A run that has a place, or waits for one. */
interface SlotHolder {
  run_id: string;
  end: AbortController;
}

/**
 * Limits the concurrent calls to each connection's server. On the main thread, because runs of all threads share the
 * places. Owners take turns, and no place is reserved.
 */
export function createModelPlaces({ countOf }: { countOf(connection: string): number | null }) {
  const lines = new Map<string, Line>();
  const guests = new Map<number, SlotHolder>();
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

  /** Resolves once there is a place, held until it is freed or its run leaves. */
  async function take(run: Scope & { run_id: string }, connection: string): Promise<number> {
    const end = new AbortController();
    const place = ++count;
    guests.set(place, { run_id: run.run_id, end });
    while (!end.signal.aborted) {
      const places = countOf(connection);
      if (places === null) return place;
      if (await takeSlot(lineOf(connection, places), nameOf(run), end.signal)) return place;
    }
    guests.delete(place);
    throw new AppendRefused(supersededCall);
  }

  /** Makes a call outside of runs once there is a place. Throws the signal's reason if aborted before. */
  async function during<T>(owner: Scope, connection: string, signal: AbortSignal, call: () => Promise<T>): Promise<T> {
    const end = new AbortController();
    const endSignal = AbortSignal.any([end.signal, signal]);
    try {
      for (;;) {
        signal.throwIfAborted();
        const places = countOf(connection);
        if (places === null) break;
        if (await takeSlot(lineOf(connection, places), nameOf(owner), endSignal)) break;
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
    /** Usage of the connections with a limit that have been called. */
    figures: () =>
      Array.from(lines, ([connection, { count, taken, waiting }]) => ({ connection, count, taken, waiting })),
    /** Frees the places of a run that is no longer driven. */
    leave(runId: string): void {
      for (const [place, { run_id }] of guests) if (run_id === runId) free(place);
    },
  };
}

/** True once the owner has a place, held until `end`; false if `end` or a new limit came first. */
function takeSlot(line: Line, owner: string, end: AbortSignal): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const settle = (isSeated: boolean) => {
    line.waiting--;
    resolve(isSeated);
  };
  const holdSlot = () =>
    new Promise<void>((leave) => {
      line.taken++;
      settle(true);
      end.addEventListener("abort", () => leave(), { once: true });
    }).finally(() => line.taken--);
  line.waiting++;
  line.queue.run(owner, AbortSignal.any([end, line.replaced.signal]), holdSlot).catch(() => settle(false));
  return promise;
}
