import { longBody_bytes } from "../../lib/egress-body.ts";
import { createFairQueue } from "../../lib/fair-queue/queue.ts";

// Per thread. A response has up to 4 MB, parsing takes several times its size, and many may arrive at once.
const arriving = createFairQueue({ count: 8, reserve: 4 });
const reading = createFairQueue({ count: 1, reserve: 0 });

// Socket buffers hold up to two megabytes of each waiting response, however little of it is read.
const veryLong_bytes = 1024 * 1024;
const toolsMax = 10_000;
/** Tools whose last response was very long. */
const veryLong = new Set<string>();

/** A call that may have a long response. */
interface Call {
  owner: string;
  tool_id: string;
  /** Settles when the response is no longer in memory. */
  recorded: Promise<void>;
}

/**
 * Runs a call; its `beforeLong` waits for a slot for a long response, which is held until the call is recorded. Unread
 * responses stay at the sender. A tool whose last response was very long waits before it is called.
 */
export async function withMemoryBudget<T>(
  { owner, tool_id, recorded }: Call,
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
  void recorded.then(ended.resolve);
  if (veryLong.has(tool_id)) await beforeLong();
  return await work(beforeLong);
}

/** Records the length of a tool's last response. */
export function recordLength(tool_id: string, length: number): void {
  if (length < veryLong_bytes) veryLong.delete(tool_id);
  else if (veryLong.size < toolsMax) veryLong.add(tool_id);
}

/** Reads a response of this length. Long ones are read one at a time, and owners take turns. */
export async function inTurn<T>(
  owner: string,
  length: number,
  signal: AbortSignal,
  read: () => Promise<T>,
): Promise<T> {
  if (length <= longBody_bytes) return read();
  return reading.run(owner, signal, () => {
    // Buffers are few but large objects: the garbage collector would start too late.
    Bun.gc(true);
    return read();
  });
}
