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
// How often a stream that is quiet, or whose reader takes nothing, is looked at. Looks are counted and not timed: a
// process that was stopped for a while has not looked.
const look_ms = 1000;

/** Text as it comes into being, for one reader. */
export interface Texts {
  /** The next text; null while there is none, undefined at the end. `quiet_ms`: for how long there was none. */
  next(quiet_ms: number): string | null | undefined;
  /** Lets go of what it holds; what is left of the text is an end. May be called twice. */
  stop(): void;
}

/**
 * A stream into which text is pushed as far as its reader takes it: it is made only then. A dead reader therefore costs
 * what the system's buffers hold, and no longer than `patience_ms`: then it counts as gone, and the listener closes its
 * connection. `open` is handed what is to be called whenever there may be text; `ended` runs once, whichever side ends it.
 */
export function pushedStream(
  open: (wake: () => void) => Texts,
  ended: (byReader: boolean) => void,
  patience_ms = 30_000,
): ReadableStream<Uint8Array> {
  let controller: ReadableStreamDefaultController<Uint8Array>;
  let wanted = false; // Whether the reader has taken what came before.
  let untaken_ms = 0;
  let quiet_ms = 0;
  let over = false;
  const texts = open(say);
  const timer = setInterval(look, look_ms).unref();

  function look(): void {
    if (wanted) {
      quiet_ms += look_ms;
      say();
    } else {
      untaken_ms += look_ms;
      if (untaken_ms > patience_ms) end(true); // The first look may have come right after the text.
    }
  }

  function say(): void {
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
      end(false); // What it held is let go, as at any other end.
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
        say();
      },
      cancel() {
        end(true);
      },
    },
    { highWaterMark: 0 },
  );
}
