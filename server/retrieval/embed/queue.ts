import { createFairLines } from "../../lib/fair/lines.ts";

/** What waits, in turns of its owners: first what has just come, then what goes on. */
interface Queue<T> {
  /** Adds what was not served yet. */
  arrive(owner: string, one: T): void;
  /** Adds what was served before, behind all others like it. */
  goOn(owner: string, one: T): void;
  /** Of these owners, by default of all. */
  next(isOpen?: (owner: string) => boolean): T | undefined;
  remove(owner: string, one: T): void;
}

// So many who have just come go before one that waits to go on: a rush of queries only slows what is under way.
const rush = 8;

/** Who has just come goes before whoever goes on: a query waits for one slice of a batch, and not for all of it. */
export function createQueue<T>(): Queue<T> {
  const fresh = createFairLines<T>();
  const begun = createFairLines<T>();
  let inRow = 0;
  let last: string | undefined;

  /** Who was served last goes behind whoever else waits, also behind one who came only now. */
  function take(lines: typeof fresh, isOpen: (owner: string) => boolean): T | undefined {
    const open = [...lines.owners()].filter(isOpen);
    const owner = open.find((each) => each !== last) ?? open[0];
    if (owner === undefined) return undefined;
    last = owner;
    return lines.next(owner);
  }

  return {
    arrive: fresh.add,
    goOn: begun.add,
    next(isOpen = () => true) {
      const first = inRow < rush ? take(fresh, isOpen) : undefined;
      inRow = first === undefined ? 0 : inRow + 1;
      return first ?? take(begun, isOpen) ?? take(fresh, isOpen);
    },
    remove(owner, one) {
      fresh.remove(owner, one);
      begun.remove(owner, one);
    },
  };
}
