import type { ToolSnapshot } from "../core/agent-snapshot.ts";
import { createFairQueue } from "../lib/fair/queue.ts";

// Of this thread. Reading an answer takes several times its size, and many may come at once.
const queue = createFairQueue({ count: 1, reserve: 0 });
const long = 65_536;

/** Reads an answer of this length. Long ones are read one at a time, and tools take turns. */
export const inTurn = <T>(
  tool: Pick<ToolSnapshot, "id">,
  length: number,
  signal: AbortSignal,
  read: () => Promise<T>,
): Promise<T> => (length < long ? read() : queue.run(tool.id, signal, read));
