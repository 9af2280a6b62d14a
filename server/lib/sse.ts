/** Serializes one server-sent event. `data` is JSON and therefore one line; clients return `id` in `Last-Event-ID`. */
export const sseEvent = (event: string, id: string, data: string): string =>
  `event: ${event}\nid: ${id}\ndata: ${data}\n\n`;

/** Serializes a comment, which clients skip; it keeps proxies and sockets open. */
export const sseComment = (text: string): string => `: ${text}\n\n`;

/** Serializes the reconnect delay. Must precede an event, because some clients take it for an empty event otherwise. */
export const sseRetry = (ms: number): string => `retry: ${ms}\n`;

/**
 * Serializes the reason why a stream ends. Without `id`, so that a reconnecting client resumes after its last event.
 */
export const sseError = (data: string): string => `event: error\ndata: ${data}\n\n`;

export const sseHeaders = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store, no-transform",
  "x-accel-buffering": "no",
};

const encoder = new TextEncoder();
// Interval of checks for idle streams and stalled readers. Checks are counted instead of timed, so that a suspended
// process does not drop its readers.
const look_ms = 1000;

/** Source of text for one reader. */
export interface TextSource {
  /** Returns the next text; null if there is none yet, undefined at the end. `quiet_ms`: time since the last text. */
  next(quiet_ms: number): string | null | undefined;
  /** Releases its resources. May be called twice. */
  stop(): void;
}

/**
 * Creates a stream that produces text only when its reader takes it, so a stalled reader costs no more than the
 * system's buffers. It is dropped after `patience_ms`, and the listener closes its connection. `open` gets a function
 * to call when text may be available; `ended` runs once.
 */
export function pulledStream(
  open: (wake: () => void) => TextSource,
  ended: (byReader: boolean) => void,
  patience_ms = 30_000,
): ReadableStream<Uint8Array> {
  let controller: ReadableStreamDefaultController<Uint8Array>;
  let wanted = false; // True once the reader has taken the previous text.
  let untaken_ms = 0;
  let quiet_ms = 0;
  let over = false;
  const texts = open(sendNext);
  const timer = setInterval(checkReader, look_ms).unref();

  function checkReader(): void {
    if (wanted) {
      quiet_ms += look_ms;
      sendNext();
    } else {
      untaken_ms += look_ms;
      if (untaken_ms > patience_ms) end(true); // More than, because the first check may come right after the text.
    }
  }

  function sendNext(): void {
    if (!wanted || over) return;
    try {
      const text = texts.next(quiet_ms);
      if (text === null) return;
      [wanted, quiet_ms, untaken_ms] = [false, 0, 0];
      if (text !== undefined) controller.enqueue(encoder.encode(text));
      else {
        controller.close();
        end(false);
      }
    } catch (error) {
      controller.error(error);
      end(false); // Releases the source, as at any other end.
    }
  }

  function end(byReader: boolean): void {
    if (over) return;
    over = true;
    clearInterval(timer);
    texts.stop();
    ended(byReader);
  }

  return new ReadableStream<Uint8Array>(
    {
      start(own) {
        controller = own;
      },
      pull() {
        if (over) return controller.error(new Error("The reader took nothing for too long."));
        wanted = true;
        sendNext();
      },
      cancel() {
        end(true);
      },
    },
    { highWaterMark: 0 },
  );
}
