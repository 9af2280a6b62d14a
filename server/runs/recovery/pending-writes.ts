import { sleep } from "../../lib/retry.ts";
import type { Pool } from "../dispatch/pool.ts";

// Pause before a write that storage refused (full disk) is retried.
const again_ms = 1000;

export type PendingWrites = ReturnType<typeof createPendingWrites>;

/** Writes that are retried until storage accepts them. */
export function createPendingWrites(pool: Pool) {
  const end = new AbortController();

  return {
    /** Resolves when the write is done, its run is given up, or the process stops. */
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
