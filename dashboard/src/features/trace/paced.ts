/** Throttled work: never concurrent, with a pause that grows with its duration. */
interface Throttled {
  ask(): void;
  stop(): void;
}

/** Runs `work` immediately on the first request, and once more later if requested meanwhile. */
export function throttle(work: () => Promise<unknown>, rest_ms: number): Throttled {
  let [busy, asked, stopped] = [false, false, false];
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function go(): Promise<void> {
    busy = true;
    asked = false;
    const begun = performance.now();
    await work().catch(() => {}); // A failure is ignored: the next request tries again.
    const took = performance.now() - begun;
    if (stopped) return;
    timer = setTimeout(
      () => {
        busy = false;
        if (asked) void go();
      },
      Math.max(rest_ms, took * 2),
    );
  }

  return {
    ask() {
      asked = true;
      if (!busy && !stopped) void go();
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
