/** Settles once this node is known to lead its cell, at once if it is; rejects with the signal. */
export type Leading = (signal?: AbortSignal | null) => Promise<void>;

/** For a single machine. */
export const alone: Leading = async () => {};

interface Clock {
  wall(): number;
  mono(): number;
}

const again_ms = 20;
// The two clocks differ by this much where the machine was suspended or its clock was set.
const parted_ms = 500;

/**
 * Says until the moment that `until` holds, in ms since 1970, that this node leads. A process that was stopped for longer
 * would go on with calls that another node has made meanwhile. Threads have no clock in common but that of the wall:
 * where it has parted from the thread's own, what was told before counts no more.
 */
export function createLeading(
  until: BigInt64Array,
  clock: Clock = { wall: Date.now, mono: () => performance.now() },
): Leading {
  let apart = clock.wall() - clock.mono();
  let stale: bigint | null = null;

  function leads(): boolean {
    const told = Atomics.load(until, 0);
    const wall = clock.wall();
    const before = apart;
    apart = wall - clock.mono();
    if (Math.abs(apart - before) >= parted_ms) stale = told;
    return told !== stale && wall < told;
  }

  return async (signal) => {
    while (!leads()) {
      signal?.throwIfAborted();
      await Bun.sleep(again_ms);
    }
  };
}

/** Lets requests leave only while this node leads. */
export const whileLeading = (leading: Leading, fetch: typeof globalThis.fetch): typeof globalThis.fetch =>
  Object.assign(async (...given: Parameters<typeof fetch>): Promise<Response> => {
    await leading(given[1]?.signal);
    return await fetch(...given);
  }, fetch);
