import { createFairQueue } from "../lib/fair/queue.ts";

// Of this thread. Reading an answer takes several times its size, and many may come at once.
const queue = createFairQueue({ count: 1, reserve: 0 });
const long = 65_536;

/** Reads an answer of this length. Long ones are read one at a time, and their owners take turns. */
export async function inTurn<T>(
  owner: string,
  length: number,
  signal: AbortSignal,
  read: () => Promise<T>,
): Promise<T> {
  if (length < long) return read();
  // What it came in, and what was read before, is large and of few objects: the collector would let much of it gather.
  Bun.gc(true);
  return queue.run(owner, signal, () => {
    Bun.gc(true);
    return read();
  });
}
