import { createRoundRobin } from "../../../lib/fair-queue/round-robin.ts";

/** A fair queue with two priorities: new items first, then items in progress. Owners take turns in each. */
interface Queue<T> {
  /** Adds a new item. */
  arrive(owner: string, one: T): void;
  /** Re-adds an item in progress, after all others in progress. */
  requeue(owner: string, one: T): void;
  /** Returns the next item of the open owners; by default of all. */
  next(isOpen?: (owner: string) => boolean): T | undefined;
  remove(owner: string, one: T): void;
}

// Number of new items served before one in progress, so that a burst of queries only slows a batch.
const maxNewInRow = 8;

/** Serves new items before those in progress, so that a query waits for one slice of a batch and not for all of it. */
export function createQueue<T>(): Queue<T> {
  const newJobs = createRoundRobin<T>();
  const inProgress = createRoundRobin<T>();
  let inRow = 0;
  let last: string | undefined;

  /** Picks an owner other than the last one served, if there is one, even if it arrived only now. */
  function take(lines: typeof newJobs, isOpen: (owner: string) => boolean): T | undefined {
    const open = [...lines.owners()].filter(isOpen);
    const owner = open.find((each) => each !== last) ?? open[0];
    if (owner === undefined) return undefined;
    last = owner;
    return lines.next(owner);
  }

  return {
    arrive: newJobs.add,
    requeue: inProgress.add,
    next(isOpen = () => true) {
      const first = inRow < maxNewInRow ? take(newJobs, isOpen) : undefined;
      inRow = first === undefined ? 0 : inRow + 1;
      return first ?? take(inProgress, isOpen) ?? take(newJobs, isOpen);
    },
    remove(owner, one) {
      newJobs.remove(owner, one);
      inProgress.remove(owner, one);
    },
  };
}
