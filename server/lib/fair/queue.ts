import { createFairLines } from "./lines.ts";
import { createFairPlaces, type FairOptions } from "./places.ts";

export interface FairQueue {
  /**
   * Does the work as soon as its owner has a place, and tells it how many others of the owner have one. Throws the
   * signal's reason where that is aborted before.
   */
  run<T>(owner: string, signal: AbortSignal, work: (beside: number) => Promise<T>): Promise<T>;
}

interface Taken {
  beside: number;
  giveBack: () => void;
}

/** Work of several owners, so much at a time: the others wait for a place, and none of them behind all of another's. */
export function createFairQueue(options: FairOptions): FairQueue {
  const places = createFairPlaces(options);
  const lines = createFairLines<() => void>();

  function advance(): void {
    for (let owner = next(); owner !== null; owner = next()) lines.next(owner)!();
  }

  const next = (): string | null => places.next(lines.owners());

  /** Takes a place, now or when the owner is next, and returns what gives it back. */
  function take(owner: string, signal: AbortSignal): Promise<Taken> {
    const { promise, resolve, reject } = Promise.withResolvers<Taken>();
    const begin = () => {
      signal.removeEventListener("abort", leave);
      resolve({ beside: places.heldBy(owner), giveBack: places.take(owner) });
    };
    const leave = () => {
      lines.remove(owner, begin);
      reject(signal.reason);
    };
    signal.addEventListener("abort", leave, { once: true });
    lines.add(owner, begin);
    advance();
    return promise;
  }

  return {
    async run(owner, signal, work) {
      signal.throwIfAborted();
      const { beside, giveBack } = await take(owner, signal);
      try {
        return await work(beside);
      } finally {
        giveBack();
        advance();
      }
    },
  };
}
