import type { Db } from "./open.ts";

interface CollectorOptions {
  db: Db;
  isThere: () => boolean;
  /** Deletes a batch and returns its number of rows. Called inside a write. */
  forget: () => number;
  /** Called when a deletion failed; it is retried. */
  onError: (error: unknown) => void;
  pause_ms: number;
}

/** Deletes unused rows in small writes. */
export function createGarbageCollector({ db, isThere, forget, onError, pause_ms }: CollectorOptions) {
  let collecting: Promise<void> | null = null;
  let stopped = false;

  function collect(): Promise<void> {
    collecting ??= collectAll().finally(() => {
      collecting = null;
    });
    return collecting;
  }

  async function collectAll(): Promise<void> {
    while (!stopped && isThere() && (await db.write(forget)) > 0) await Bun.sleep(pause_ms);
  }

  /** Collects in the background, with retries: a full disk may refuse even deletions at first. */
  function collectSoon(again_ms = 1000): void {
    collect().catch((error) => {
      onError(error);
      if (!stopped) setTimeout(collectSoon, again_ms, Math.min(2 * again_ms, 60_000)).unref();
    });
  }

  return {
    collect,
    collectSoon,
    /** Stops after the write in progress; the next start continues. */
    async stop(): Promise<void> {
      stopped = true;
      await collecting?.catch(() => {});
    },
  };
}
