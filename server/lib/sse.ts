/** One server-sent event. `data` is JSON and therefore one line; `id` is what a client repeats in `Last-Event-ID`. */
export const sseEvent = (event: string, id: string, data: string): string =>
  `event: ${event}\nid: ${id}\ndata: ${data}\n\n`;

/** A comment: readers skip it, proxies and sockets learn that the stream lives. */
export const sseComment = (text: string): string => `: ${text}\n\n`;

/** How long a reader shall wait before it connects again, in milliseconds. */
export const sseRetry = (ms: number): string => `retry: ${ms}\n\n`;

export const sseHeaders = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store, no-transform",
  "x-accel-buffering": "no",
};

const encoder = new TextEncoder();

/**
 * A stream that is pulled: text is made only when the reader has taken what came before, so that a dead reader costs
 * nothing. `ended` runs once, whichever side ends it; the iterator is released then.
 */
export function pulledStream(
  texts: AsyncGenerator<string, void>,
  abort: AbortController,
  ended: (byReader: boolean) => void,
) {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { value, done } = await texts.next();
        if (!done) return controller.enqueue(encoder.encode(value));
        controller.close();
        ended(false);
      },
      cancel() {
        abort.abort();
        void texts.return();
        ended(true);
      },
    },
    { highWaterMark: 0 },
  );
}
