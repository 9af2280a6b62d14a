import { UnexpectedResponseError } from "./errors.ts";
import { decodedBy } from "./read-body.ts";

/** A raw event of a stream: `data` is still text. */
export interface Frame {
  event: string;
  id: string | null;
  data: string;
}

/** Maximum size of an event: 64 MB in UTF-16 code units. */
const longestFrame = 2 ** 25;

/**
 * Parses server-sent events by the HTML standard; an event cut off at the end is dropped. Throws an
 * `UnexpectedResponseError` if the body is not UTF-8 or an event exceeds `limit` code units.
 */
export async function* readFrames(body: ReadableStream<Uint8Array>, limit = longestFrame): AsyncGenerator<Frame> {
  const reader = body.getReader();
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let rest: string[] = []; // Pieces of an unfinished line, joined only once.
  let frame = empty();
  let length = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const piece = decodedBy(decoder, value);
      length += piece.length;
      if (length > limit) throw new UnexpectedResponseError("An event of the stream is too long.");
      const isLine = /[\r\n]/.test(piece) || rest.at(-1)?.endsWith("\r");
      rest.push(piece);
      if (!isLine) continue;
      const lines = rest.join("").split(/\r\n|\n|\r(?!$)/); // A CR at the end may precede an LF.
      rest = [lines.pop()!];
      for (const line of lines) {
        if (line === "") {
          if (frame.data.length > 0)
            yield { event: frame.event || "message", id: frame.id, data: frame.data.join("\n") };
          frame = empty();
          length = rest[0]!.length;
          continue;
        }
        const [, field, value = ""] = /^([^:]*)(?:: ?([\s\S]*))?$/.exec(line) ?? [];
        if (field === "event") frame.event = value;
        else if (field === "data") frame.data.push(value);
        else if (field === "id") frame.id = value;
      }
    }
  } finally {
    await reader.cancel().catch(() => {}); // The consumer stopped, or the connection is already lost.
  }
}

const empty = (): { event: string; id: string | null; data: string[] } => ({ event: "", id: null, data: [] });
