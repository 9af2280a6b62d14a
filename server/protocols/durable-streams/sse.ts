import { sseComment, type TextSource } from "../../lib/sse.ts";
import { messagesIn } from "./messages.ts";

interface Place {
  /** Offset at which the reader starts. */
  from: string;
  /** Returns the next cursor. */
  cursor: () => string;
  /** True if nothing follows this offset now. */
  isTail: (offset: string) => boolean;
  /** True if the run is over. */
  isClosed: () => boolean;
}

/** No space before the data, because the protocol's own clients expect none. */
const sse = (event: string, data: string): string => `event: ${event}\ndata:${data}\n\n`;

/**
 * Encodes a run's stream for the protocol: a control event with the reader's offset follows each piece of data, and the
 * last one says that the stream is closed. An error that ends it sooner, such as an expired token, is passed on
 * unchanged.
 */
export function withControlEvents(texts: TextSource, { from, cursor, isTail, isClosed }: Place): TextSource {
  let next = from;
  let isOver = false;

  function control(): string {
    const upToDate = isTail(next);
    return sse(
      "control",
      JSON.stringify({ streamNextOffset: next, streamCursor: cursor(), ...(upToDate && { upToDate }) }),
    );
  }

  function end(): string | undefined {
    if (isOver || !isClosed()) return undefined;
    isOver = true;
    return sse("control", JSON.stringify({ streamNextOffset: next, streamClosed: true, upToDate: true }));
  }

  return {
    next(quiet_ms) {
      const text = texts.next(quiet_ms);
      if (text === undefined) return end();
      if (text === null) return null;
      const found = messagesIn(text);
      // A comment, or the error that ends the stream.
      if (found.next === null) return text === sseComment("open") ? control() : text;
      next = found.next;
      return sse("data", `[${found.messages.join(",")}]`) + control();
    },
    stop: texts.stop,
  };
}
