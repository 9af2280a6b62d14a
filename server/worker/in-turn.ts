import type { ToolSnapshot } from "../core/agent-snapshot.ts";
import { createFairQueue } from "../lib/fair/queue.ts";

// Of this thread: what is done with a long output takes several times its size, and many may come at once.
const queue = createFairQueue({ count: 1, reserve: 0 });
const long_bytes = 65_536;
const never = new AbortController().signal;

/** Work on a tool's output of this size. Long ones have it done one at a time, and tools take turns. */
export const inTurn = <T>(
  tool: Pick<ToolSnapshot, "id">,
  bytes: number,
  work: () => Promise<T>,
  signal: AbortSignal = never,
): Promise<T> => (bytes < long_bytes ? work() : queue.run(tool.id, signal, work));
