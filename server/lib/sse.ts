/** One server-sent event. `data` is JSON and therefore one line; `id` is what a client repeats in `Last-Event-ID`. */
export const sseEvent = (event: string, id: string, data: string): string =>
  `event: ${event}\nid: ${id}\ndata: ${data}\n\n`;

/** A comment: readers skip it, proxies and sockets learn that the stream lives. */
export const sseComment = (text: string): string => `: ${text}\n\n`;

/**
 * How long a reader shall wait before it connects again, in milliseconds. Stands at the head of an event: alone it would
 * be an empty event to some readers.
 */
export const sseRetry = (ms: number): string => `retry: ${ms}\n`;

/** Why a stream ends. It has no `id`: a reader that comes back begins where it stopped. */
export const sseError = (data: string): string => `event: error\ndata: ${data}\n\n`;

export const sseHeaders = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store, no-transform",
  "x-accel-buffering": "no",
};

const encoder = new TextEncoder();
// A reader is looked at this often before it is given up. Looks are counted and not timed: a process that was stopped
// for a while has not looked.
const looks = 6;

/**
 * A stream that is pulled: text is made only when the reader has taken what came before. A dead reader therefore costs
 * what the system's buffers hold, and no longer than `patience_ms`: then it counts as gone, and the listener closes its
 * connection. `abort` is told and `ended` runs once, whichever side ends it; the iterator is released then.
 */
export function pulledStream(
  texts: AsyncGenerator<string, void>,
  abort: AbortController,
  ended: (byReader: boolean) => void,
  patience_ms = 30_000,
) {
  let untaken = 0; // Looks since the reader was handed text, or the stream itself, and did not ask for more.
  let handed = true;
  let open = true;
  const timer = setInterval(() => {
    untaken = handed ? untaken + 1 : 0;
    if (untaken > looks) end(true); // The first look may have come right after the text.
  }, patience_ms / looks);
  timer.unref();

  function end(byReader: boolean): void {
    if (!open) return;
    open = false;
    clearInterval(timer);
    abort.abort();
    void texts.return();
    ended(byReader);
  }

  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        handed = false;
        untaken = 0;
        const { value, done } = await texts.next().catch((error: unknown) => {
          end(false); // What it held is let go, as at any other end.
          throw error;
        });
        if (!open) return controller.error(new Error("The reader took nothing for too long."));
        if (!done) {
          handed = true;
          return controller.enqueue(encoder.encode(value));
        }
        controller.close();
        end(false);
      },
      cancel() {
        end(true);
      },
    },
    { highWaterMark: 0 },
  );
}
