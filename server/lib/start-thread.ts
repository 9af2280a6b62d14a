/** A worker thread for work that would block the main thread. */
export interface Thread<Told> {
  send(told: Told): void;
  end(): void;
}

/** `died` is called once, unless the thread was ended by `end`. */
export type StartThread<Told, Said> = (hear: (said: Said) => void, died: (reason: string) => void) => Thread<Told>;

/** Creates a starter of threads that run the module at `entry`. */
export const startThread =
  <Told, Said>(entry: () => string, options?: WorkerOptions): StartThread<Told, Said> =>
  (hear, died) => {
    const worker = new Worker(entry(), options);
    let over = false;
    const reportEnd = (reason: string) => {
      if (over) return;
      over = true;
      died(reason);
    };
    worker.onmessage = ({ data }: MessageEvent<Said>) => hear(data);
    // A throw causes an error and then a close; an exit or an unhandled rejection may cause only the close.
    worker.onerror = (event) => reportEnd(event.message);
    worker.addEventListener("close", () => reportEnd("closed"));
    return {
      send: (told) => worker.postMessage(told),
      end() {
        over = true;
        worker.terminate();
      },
    };
  };
