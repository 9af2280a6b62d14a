/** A check that repeats only while there is something to wait for. */
export interface Poll {
  /** Starts the quick checks. Cheap enough for every request and commit. */
  wake(): void;
  stop(): void;
}

interface PollOptions {
  every_ms: number;
  /** Interval while there is nothing to wait for; absent: no checks until `wake`. For changes by other processes. */
  idle_ms?: number;
  /**
   * Checks, and returns true to check again after `every_ms`. What it throws becomes an unhandled rejection, and it is repeated.
   * `late_ms` is the delay of its timer, of which up to one is rounding.
   */
  look(late_ms: number): boolean | Promise<boolean>;
}

/**
 * Creates a poll that is awake: it checks once before it may rest. Each wake-up of an idle process costs about a
 * millisecond of a core, because its caches are cold. Polls therefore check at multiples of their interval, so that one
 * wake-up serves several. The first check follows `wake` within one interval.
 */
export function createPoll({ every_ms, idle_ms, look }: PollOptions): Poll {
  let timer: Timer | undefined;
  let due = 0;
  let [isAwake, isLooking, isStopped] = [true, false, false];

  function arm(): void {
    clearTimeout(timer);
    const ms = isAwake ? every_ms : idle_ms;
    if (isStopped || ms === undefined) return;
    const now = performance.now();
    due = Math.floor((now + ms) / ms) * ms;
    timer = setTimeout(check, Math.ceil(due - now)).unref();
  }

  async function check(): Promise<void> {
    [isAwake, isLooking] = [false, true];
    let isMore = true; // Also if the check throws.
    try {
      isMore = await look(performance.now() - due);
    } finally {
      isAwake ||= isMore; // A wake during an asynchronous check counts.
      isLooking = false;
      arm();
    }
  }

  arm();
  return {
    wake() {
      if (isAwake) return;
      isAwake = true;
      if (!isLooking) arm();
    },
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
