import { requireValue } from "../require-value.ts";
import { createFairSemaphore, type FairOptions } from "./fair-semaphore.ts";
import { createRoundRobin } from "./round-robin.ts";

export interface FairQueue {
  /**
   * Runs the work as soon as its owner gets a place; `beside` is the number of places that the owner already held.
   * Throws the signal's reason if it is aborted before.
   */
  run<T>(owner: string, signal: AbortSignal, work: (beside: number) => Promise<T>): Promise<T>;
}

interface Taken {
  beside: number;
  giveBack: () => void;
}

/** Queue of several owners with bounded concurrency: an owner's work never waits behind all work of another. */
export function createFairQueue(options: FairOptions): FairQueue {
  const places = createFairSemaphore(options);
  const lines = createRoundRobin<() => void>();

  function advance(): void {
    for (let owner = next(); owner !== null; owner = next()) requireValue(lines.next(owner), "A job of the owner")();
  }

  const next = (): string | null => places.next(lines.owners());

  /** Takes a place, now or in the owner's turn, and returns its release function. */
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
