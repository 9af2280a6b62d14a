import { createFairLines } from "../../lib/fair/lines.ts";

/** What waits, round robin over owners: first what has just come, then what goes on. */
interface Queue<T> {
  /** Adds what was not served yet. */
  arrive(owner: string, one: T): void;
  /** Adds what was served before, behind all others like it. */
  goOn(owner: string, one: T): void;
  next(): T | undefined;
  remove(owner: string, one: T): void;
}

// So many who have just come go before one that waits to go on: a rush of queries only slows what is under way.
const rush = 8;

/** Who has just come goes before whoever goes on: a query waits for one slice of a batch, and not for all of it. */
export function createQueue<T>(): Queue<T> {
  const fresh = createFairLines<T>();
  const begun = createFairLines<T>();
  let inRow = 0;
  return {
    arrive: fresh.add,
    goOn: begun.add,
    next() {
      const first = inRow < rush ? fresh.next() : undefined;
      inRow = first === undefined ? 0 : inRow + 1;
      return first ?? begun.next() ?? fresh.next();
    },
    remove(owner, one) {
      fresh.remove(owner, one);
      begun.remove(owner, one);
    },
  };
}
