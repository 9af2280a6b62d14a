import { checkpointEntry } from "../lib/assets.ts";

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

/** Of the database at `path`. Its thread begins with the first move: a short life needs none. */
export function createLogMover(path: string): LogMover {
  let worker: Worker | null = null;
  let told: PromiseWithResolvers<boolean> | null = null;

  function start(): Worker {
    const started = new Worker(checkpointEntry(), { smol: true });
    started.onmessage = ({ data }: MessageEvent<boolean>) => told?.resolve(data);
    const gone = () => {
      if (worker === started) worker = null;
      told?.resolve(false);
    };
    started.onerror = gone;
    started.addEventListener("close", gone);
    return started;
  }

  return {
    move(mode) {
      worker ??= start();
      told = Promise.withResolvers();
      worker.postMessage({ do: "move", path, mode } satisfies ToMover);
      return told.promise;
    },
    end() {
      if (!worker) return;
      const ended = new Int32Array(new SharedArrayBuffer(4));
      worker.postMessage({ do: "end", ended } satisfies ToMover);
      Atomics.wait(ended, 0, 0, patience_ms);
      worker.terminate();
      told?.resolve(false);
    },
  };
}
