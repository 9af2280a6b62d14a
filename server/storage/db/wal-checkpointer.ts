import { checkpointEntry } from "../../lib/assets.ts";
import { startThread, type Thread } from "../../lib/start-thread.ts";

/** Requests to the worker that checkpoints the WAL. */
export type ToCheckpointer =
  | { do: "checkpoint"; path: string; mode: Mode }
  | { do: "end"; ended: Int32Array<SharedArrayBuffer> };

/** `TRUNCATE` also empties the WAL's file if all of it could be checkpointed. */
export type Mode = "PASSIVE" | "TRUNCATE";

/** Checkpoints the WAL in a worker, beside the thread that writes. */
export interface WalCheckpointer {
  /** Returns false if nothing could be checkpointed. Call it once at a time. */
  checkpoint(mode: Mode): Promise<boolean>;
  /** Waits for the checkpoint in progress, so that it does not overlap with later work, and ends the worker. */
  end(): void;
}

const patience_ms = 5000;
const startWorker = startThread<ToCheckpointer, boolean>(checkpointEntry, { smol: true });

/**
 * Creates a checkpointer of the database at `path`. Its worker starts with the first checkpoint: short processes need
 * none.
 */
export function createWalCheckpointer(path: string): WalCheckpointer {
  let thread: Thread<ToCheckpointer> | null = null;
  let result: PromiseWithResolvers<boolean> | null = null;

  function died(): void {
    thread = null;
    result?.resolve(false);
  }

  return {
    checkpoint(mode) {
      thread ??= startWorker((isDone) => result?.resolve(isDone), died);
      result = Promise.withResolvers();
      thread.send({ do: "checkpoint", path, mode });
      return result.promise;
    },
    end() {
      if (!thread) return;
      const ended = new Int32Array(new SharedArrayBuffer(4));
      thread.send({ do: "end", ended });
      Atomics.wait(ended, 0, 0, patience_ms);
      thread.end();
      result?.resolve(false);
    },
  };
}
