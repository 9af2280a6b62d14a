/** Whose turn it is. */
export interface Turns<T> {
  /** Puts in who has had no turn yet. */
  arrive(one: T): void;
  /** Puts in who has had a turn, behind all others like it. */
  goOn(one: T): void;
  next(): T | undefined;
  remove(one: T): void;
}

// So many who have just come go before one that waits to go on: a rush of queries only slows what is under way.
const rush = 8;

/** Who has just come goes before whoever goes on: a query waits for one slice of a batch, and not for all of it. */
export function createTurns<T>(): Turns<T> {
  const fresh: T[] = [];
  const begun: T[] = [];
  let inRow = 0;
  return {
    arrive: (one) => void fresh.push(one),
    goOn: (one) => void begun.push(one),
    next() {
      const isFresh = fresh.length > 0 && (begun.length === 0 || inRow < rush);
      inRow = isFresh ? inRow + 1 : 0;
      return isFresh ? fresh.shift() : begun.shift();
    },
    remove(one) {
      for (const queue of [fresh, begun]) if (queue.includes(one)) queue.splice(queue.indexOf(one), 1);
    },
  };
}
