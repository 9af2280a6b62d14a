import { longBody_bytes } from "../lib/egress-body.ts";
import { createFairQueue } from "../lib/fair/queue.ts";

// Of this thread. An answer is up to 4 MB, reading one takes several times its size, and many may come at once.
const arriving = createFairQueue({ count: 8, reserve: 4 });
const reading = createFairQueue({ count: 1, reserve: 0 });

/**
 * Does the work of a call, in which `beforeLong` waits until there is room for a long answer; the room is kept until the
 * work ends. What waits stays at its sender.
 */
export async function withRoom<T>(
  owner: string,
  signal: AbortSignal,
  work: (beforeLong: () => Promise<void>) => Promise<T>,
): Promise<T> {
  const ended = Promise.withResolvers<void>();
  let room: Promise<void> | null = null;
  const beforeLong = (): Promise<void> => {
    room ??= new Promise((resolve, reject) => {
      const hold = () => {
        resolve();
        return ended.promise;
      };
      arriving.run(owner, signal, hold).catch(reject);
    });
    return room;
  };
  try {
    return await work(beforeLong);
  } finally {
    ended.resolve();
  }
}

/** Reads an answer of this length. Long ones are read one at a time, and owners take turns. */
export async function inTurn<T>(
  owner: string,
  length: number,
  signal: AbortSignal,
  read: () => Promise<T>,
): Promise<T> {
  if (length <= longBody_bytes) return read();
  // What it came in, and what was read before, is large and of few objects: the collector would let much of it gather.
  Bun.gc(true);
  return reading.run(owner, signal, () => {
    Bun.gc(true);
    return read();
  });
}
