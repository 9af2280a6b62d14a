import type { Database } from "bun:sqlite";

// setTimeout counts in 32 bits: a longer wait would fire at once.
const longest_ms = 2 ** 31 - 1;
const again_ms = 1000;

/** Ends runs whose time is up. One timer for the nearest deadline; nothing polls. */
export function createDeadlines(sqlite: Database, expire: (runId: string) => Promise<void>, now: () => number) {
  const nearest = sqlite.query<{ at: number | null }, []>(
    "SELECT min(expires_at_ms) AS at FROM runs WHERE expires_at_ms IS NOT NULL",
  );
  const due = sqlite.query<{ id: string }, [number]>(
    "SELECT id FROM runs WHERE expires_at_ms IS NOT NULL AND expires_at_ms <= ? ORDER BY expires_at_ms LIMIT 100",
  );
  let timer: Timer | null = null;
  let armed = Number.POSITIVE_INFINITY;
  let stopped = false;

  /** To be called when a run may have got an earlier deadline. */
  function arm(at: number | null = nearest.get()!.at): void {
    if (stopped || at === null || at >= armed) return;
    if (timer) clearTimeout(timer);
    armed = at;
    timer = setTimeout(() => void fire(), Math.min(Math.max(0, at - now()), longest_ms));
  }

  async function fire(): Promise<void> {
    armed = Number.POSITIVE_INFINITY;
    const ends = await Promise.allSettled(due.all(now()).map(({ id }) => expire(id)));
    if (stopped) return;
    if (ends.every(({ status }) => status === "fulfilled")) return arm();
    // Storage that takes no write now would be asked without a pause: its runs are still due.
    timer = setTimeout(() => void fire(), again_ms);
  }

  return {
    arm,
    stop() {
      stopped = true;
      if (timer) clearTimeout(timer);
    },
  };
}
