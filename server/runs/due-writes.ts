import { sleep } from "../lib/retry.ts";
import type { Pool } from "./pool.ts";

// Storage that refused a write (a full disk) is asked again at this pace.
const again_ms = 1000;

export type DueWrites = ReturnType<typeof createDueWrites>;

/** Writes that must come to pass, whenever the storage takes them. */
export function createDueWrites(pool: Pick<Pool, "giveUp">) {
  const end = new AbortController();

  return {
    /** Returns once it is written, or its run is given up, or the process stops. */
    async write(runId: string, work: () => Promise<void>): Promise<void> {
      for (;;)
        try {
          return await work();
        } catch (error) {
          if (end.signal.aborted || (await pool.giveUp(runId, error))) return;
          await sleep(again_ms, end.signal);
          if (end.signal.aborted) return;
        }
    },
    stop: (): void => end.abort(),
  };
}
