/** Work that is asked for often, done seldom: never twice at once, and with a rest that grows with what it takes. */
interface Paced {
  ask(): void;
  stop(): void;
}

/** Does `work` at once when asked, and once more later when it was asked for meanwhile. */
export function paced(work: () => Promise<unknown>, rest_ms: number): Paced {
  let [busy, asked, stopped] = [false, false, false];
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function go(): Promise<void> {
    busy = true;
    asked = false;
    const begun = performance.now();
    await work().catch(() => {}); // What it could not do, it will be asked for again.
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
