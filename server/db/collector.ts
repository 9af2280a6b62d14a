import type { Db } from "./open.ts";

interface CollectorOptions {
  db: Pick<Db, "write">;
  isThere: () => boolean;
  /** Within a write: deletes a little of it. Returns how many rows those were. */
  forget: () => number;
  /** Told when something could not be deleted; it is tried again. */
  onError: (error: unknown) => void;
  pause_ms: number;
}

/** Deletes what nobody needs any more, write by write. */
export function createCollector({ db, isThere, forget, onError, pause_ms }: CollectorOptions) {
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

  /** A full disk may refuse even this at first; asked again, it may have found room. */
  function collectSoon(again_ms = 1000): void {
    collect().catch((error) => {
      onError(error);
      if (!stopped) setTimeout(collectSoon, again_ms, Math.min(2 * again_ms, 60_000)).unref();
    });
  }

  return {
    collect,
    collectSoon,
    /** Ends after the write in flight; what is left is for the next start. */
    async stop(): Promise<void> {
      stopped = true;
      await collecting?.catch(() => {});
    },
  };
}
