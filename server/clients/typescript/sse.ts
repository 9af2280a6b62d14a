import { UnexpectedResponseError } from "./errors.ts";
import { decodedBy } from "./read-body.ts";

/** An event of a stream as it is sent: `data` is still text. */
export interface Frame {
  event: string;
  id: string | null;
  data: string;
}

/** No event is longer: 64 MB in UTF-16 code units. */
const longestFrame = 2 ** 25;

/**
 * Server-sent events of a body, as the HTML standard has them. What a lost connection cut off is not an event. Throws an
 * `UnexpectedResponseError` for what is not UTF-8, and for an event that is longer than `limit` code units.
 */
export async function* readFrames(body: ReadableStream<Uint8Array>, limit = longestFrame): AsyncGenerator<Frame> {
  const reader = body.getReader();
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let rest: string[] = []; // Pieces of a line that has not ended: joined once, however many they are.
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
      const lines = rest.join("").split(/\r\n|\n|\r(?!$)/); // A CR at the end may have its LF in the next chunk.
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
    await reader.cancel().catch(() => {}); // The reader of the events left, or the connection is lost already.
  }
}

const empty = (): { event: string; id: string | null; data: string[] } => ({ event: "", id: null, data: [] });
