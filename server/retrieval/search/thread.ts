import { searchEntry } from "../../lib/assets.ts";
import type { FromThread, ToThread } from "./messages.ts";

/** The thread that searches. */
export interface SearchThread {
  send(message: ToThread): void;
  end(): void;
}

type StartThread = (hear: (answer: FromThread) => void, died: (reason: string) => void) => SearchThread;

export const startThread: StartThread = (hear, died) => {
  const worker = new Worker(searchEntry());
  let over = false;
  const gone = (reason: string) => {
    if (over) return;
    over = true;
    died(reason);
  };
  worker.onmessage = ({ data }: MessageEvent<FromThread>) => hear(data);
  // A throw gives an error and then a close; an unhandled rejection may give only the close.
  worker.onerror = (event) => gone(event.message);
  worker.addEventListener("close", () => gone("closed"));
  return {
    send: (message) => worker.postMessage(message),
    end() {
      over = true;
      worker.terminate();
    },
  };
};
