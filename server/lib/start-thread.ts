/** A thread of its own for work that would hold the main one up. */
export interface Thread<Told> {
  send(told: Told): void;
  end(): void;
}

/** `died` is called once, unless the thread was ended here. */
export type StartThread<Told, Said> = (hear: (said: Said) => void, died: (reason: string) => void) => Thread<Told>;

/** Starts threads that run what stands at an address. */
export const startThread =
  <Told, Said>(entry: () => string, options?: WorkerOptions): StartThread<Told, Said> =>
  (hear, died) => {
    const worker = new Worker(entry(), options);
    let over = false;
    const gone = (reason: string) => {
      if (over) return;
      over = true;
      died(reason);
    };
    worker.onmessage = ({ data }: MessageEvent<Said>) => hear(data);
    // A throw gives an error and then a close; an exit, or an unhandled rejection, may give only the close.
    worker.onerror = (event) => gone(event.message);
    worker.addEventListener("close", () => gone("closed"));
    return {
      send: (told) => worker.postMessage(told),
      end() {
        over = true;
        worker.terminate();
      },
    };
  };
