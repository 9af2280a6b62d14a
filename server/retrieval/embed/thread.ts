import { embeddingEntry } from "../../lib/assets.ts";
import type { Answer, Order } from "./messages.ts";

/** The thread that holds the model. */
export interface EmbeddingThread {
  send(order: Order): void;
  end(): void;
}

export type StartThread = (hear: (answer: Answer) => void, died: (reason: string) => void) => EmbeddingThread;

/** Starts it. Another `entry` is for tests. */
export function startThread(
  hear: (answer: Answer) => void,
  died: (reason: string) => void,
  entry = embeddingEntry(),
): EmbeddingThread {
  const worker = new Worker(entry);
  let over = false;
  const gone = (reason: string) => {
    if (over) return;
    over = true;
    died(reason);
  };
  worker.onmessage = ({ data }: MessageEvent<Answer>) => hear(data);
  // A throw gives an error and then a close; an unhandled rejection may give only the close.
  worker.onerror = (event) => gone(event.message);
  worker.addEventListener("close", () => gone("closed"));
  return {
    send: (order) => worker.postMessage(order),
    end() {
      over = true;
      worker.terminate();
    },
  };
}
