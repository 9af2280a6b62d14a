import { longBody_bytes } from "../lib/egress-body.ts";
import { createFairQueue } from "../lib/fair/queue.ts";

// Of this thread. An answer is up to 4 MB, reading one takes several times its size, and many may come at once.
const arriving = createFairQueue({ count: 8, reserve: 4 });
const reading = createFairQueue({ count: 1, reserve: 0 });

// Of an answer that waits the system and the runtime hold up to two megabytes each, however little is read of it.
const veryLong_bytes = 1024 * 1024;
const toolsMax = 10_000;
/** Tools whose last answer was very long. */
const veryLong = new Set<string>();

/** A call that may have a long answer. */
interface Call {
  owner: string;
  tool_id: string;
  /** Settles when nothing of the answer is in memory any more. */
  recorded: Promise<void>;
}

/**
 * Does the work of a call, in which `beforeLong` waits until there is room for a long answer; the room is kept until the
 * call is recorded. What waits stays at its sender, and a tool whose last answer was very long is asked once there is room.
 */
export async function withRoom<T>(
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

/** Notes how long a tool's answer was. */
export function noteLength(tool_id: string, length: number): void {
  if (length < veryLong_bytes) veryLong.delete(tool_id);
  else if (veryLong.size < toolsMax) veryLong.add(tool_id);
}

/** Reads an answer of this length. Long ones are read one at a time, and owners take turns. */
export async function inTurn<T>(
  owner: string,
  length: number,
  signal: AbortSignal,
  read: () => Promise<T>,
): Promise<T> {
  if (length <= longBody_bytes) return read();
  return reading.run(owner, signal, () => {
    // What it came in, and what was read before, is large and of few objects: the collector would let much of it gather.
    Bun.gc(true);
    return read();
  });
}
