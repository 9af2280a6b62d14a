import { checkpointEntry } from "../lib/assets.ts";
import { startThread, type Thread } from "../lib/start-thread.ts";

/** What a thread that moves the log of a database into it is told. */
export type ToMover = { do: "move"; path: string; mode: Mode } | { do: "end"; ended: Int32Array<SharedArrayBuffer> };

/** With `TRUNCATE` the file of the log gets empty, where all of it could be moved. */
export type Mode = "PASSIVE" | "TRUNCATE";

/** Moves the log of a database into it, while the thread that writes does other things. */
export interface LogMover {
  /** One at a time. False where nothing could be moved. */
  move(mode: Mode): Promise<boolean>;
  /** Waits for what is under way, so that nothing of it meets what follows. It moves no more. */
  end(): void;
}

const patience_ms = 5000;
const startMover = startThread<ToMover, boolean>(checkpointEntry, { smol: true });

/** Of the database at `path`. Its thread begins with the first move: a short life needs none. */
export function createLogMover(path: string): LogMover {
  let thread: Thread<ToMover> | null = null;
  let told: PromiseWithResolvers<boolean> | null = null;

  function died(): void {
    thread = null;
    told?.resolve(false);
  }

  return {
    move(mode) {
      thread ??= startMover((moved) => told?.resolve(moved), died);
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
