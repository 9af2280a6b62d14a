/** Throttled work: never concurrent, with a pause that grows with its duration. */
interface Throttled {
  ask(): void;
  stop(): void;
}

/** Runs `work` immediately on the first request, and once more later if requested meanwhile. */
export function throttle(work: () => Promise<unknown>, rest_ms: number): Throttled {
  let [busy, isQueued, stopped] = [false, false, false];
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function go(): Promise<void> {
    busy = true;
    isQueued = false;
    const startedAt = performance.now();
    await work().catch(() => {}); // A failure is ignored: the next request tries again.
    const duration_ms = performance.now() - startedAt;
    if (stopped) return;
    timer = setTimeout(
      () => {
        busy = false;
        if (isQueued) void go();
      },
      Math.max(rest_ms, duration_ms * 2),
    );
  }

  return {
    ask() {
      isQueued = true;
      if (!busy && !stopped) void go();
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
