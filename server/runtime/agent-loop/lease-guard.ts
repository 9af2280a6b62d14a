/** Resolves once this node holds the lease of its cell, at once if it does; rejects if the signal is aborted. */
export type LeaseGuard = (signal?: AbortSignal | null) => Promise<void>;

/** Guard of a single node, which always leads. */
export const singleNode: LeaseGuard = async () => {};

interface Clock {
  wall(): number;
  mono(): number;
}

const again_ms = 20;
// The clocks drift apart by at least this much if the machine was suspended or its clock was set.
const parted_ms = 500;

/**
 * True while the lease (shared `until`, in ms since 1970) holds. A process resumed after a pause must not repeat calls
 * that another node has made meanwhile. Threads share only the wall clock: after it jumps against the monotonic clock,
 * the lease counts only once it is renewed.
 */
export function createLeaseGuard(
  until: BigInt64Array,
  clock: Clock = { wall: Date.now, mono: () => performance.now() },
): LeaseGuard {
  let clockOffset = clock.wall() - clock.mono();
  let stale: bigint | null = null;

  function leads(): boolean {
    const lease = Atomics.load(until, 0);
    const wall = clock.wall();
    const before = clockOffset;
    clockOffset = wall - clock.mono();
    if (Math.abs(clockOffset - before) >= parted_ms) stale = lease;
    return lease !== stale && wall < lease;
  }

  return async (signal) => {
    while (!leads()) {
      signal?.throwIfAborted();
      await Bun.sleep(again_ms);
    }
  };
}

/** Sends requests only while this node holds the lease. */
export const requireLease = (leading: LeaseGuard, fetch: typeof globalThis.fetch): typeof globalThis.fetch =>
  Object.assign(async (...args: Parameters<typeof fetch>): Promise<Response> => {
    await leading(args[1]?.signal);
    return await fetch(...args);
  }, fetch);
