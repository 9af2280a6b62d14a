import { sseComment, type Texts } from "../../lib/sse.ts";
import { messagesIn } from "./messages.ts";

interface Place {
  /** The offset from which the reader reads. */
  from: string;
  /** The next cursor. */
  cursor: () => string;
  /** Whether there is nothing behind an offset now. */
  isTail: (offset: string) => boolean;
  /** Whether the run is over. */
  isClosed: () => boolean;
}

/** Without a space before the data: the protocol's own readers look for it so. */
const sse = (event: string, data: string): string => `event: ${event}\ndata:${data}\n\n`;

/**
 * A run's own stream in the protocol's words: after each piece of data an event that says where the reader stands, and in
 * the end that nothing more comes. Why it ends sooner, such as by a token that has expired, is told as it is.
 */
export function controlled(texts: Texts, { from, cursor, isTail, isClosed }: Place): Texts {
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
      if (found.next === null) return text === sseComment("open") ? control() : text; // A comment, or why it ends.
      next = found.next;
      return sse("data", `[${found.messages.join(",")}]`) + control();
    },
    stop: texts.stop,
  };
}
