import { checkpointEntry } from "../../lib/assets.ts";
import { startThread, type Thread } from "../../lib/start-thread.ts";

/** Requests to the worker that checkpoints the WAL. */
export type ToCheckpointer =
  | { do: "move"; path: string; mode: Mode }
  | { do: "end"; ended: Int32Array<SharedArrayBuffer> };

/** `TRUNCATE` also empties the WAL's file if all of it could be checkpointed. */
export type Mode = "PASSIVE" | "TRUNCATE";

/** Checkpoints the WAL in a worker, beside the thread that writes. */
export interface WalCheckpointer {
  /** Returns false if nothing could be checkpointed. Call it once at a time. */
  move(mode: Mode): Promise<boolean>;
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
  let told: PromiseWithResolvers<boolean> | null = null;

  function died(): void {
    thread = null;
    told?.resolve(false);
  }

  return {
    move(mode) {
      thread ??= startWorker((moved) => told?.resolve(moved), died);
      told = Promise.withResolvers();
      thread.send({ do: "move", path, mode });
      return told.promise;
    },
    end() {
      if (!thread) return;
      const ended = new Int32Array(new SharedArrayBuffer(4));
      thread.send({ do: "end", ended });
      Atomics.wait(ended, 0, 0, patience_ms);
      thread.end();
      told?.resolve(false);
    },
  };
}
