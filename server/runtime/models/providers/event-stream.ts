import { EventStreamCodec } from "@smithy/eventstream-codec";

/** One message of a stream in the format `application/vnd.amazon.eventstream`. */
export interface Frame {
  kind: "event" | "exception" | "error";
  /** Type of the event or exception, or code of the error. */
  type: string;
  /** JSON, or the message of an error. */
  payload: string;
}

const preludeLength = 12;
const frameMin_bytes = 16;
const frameMax_bytes = 8 * 1024 * 1024;

const decoder = new TextDecoder();
const codec = new EventStreamCodec(
  (bytes) => (typeof bytes === "string" ? bytes : decoder.decode(bytes as Uint8Array)),
  (text) => new TextEncoder().encode(text),
);

/**
 * Yields the frames that each network read completes. Throws if a checksum or a length is wrong; a frame that the end of
 * the connection cut is left out.
 */
export async function* framesOf({ body }: Response, onByte: () => void): AsyncGenerator<Frame[]> {
  // Held as chunks until a frame is complete: it may come in thousands of them.
  let chunks: Uint8Array[] = [];
  let [size, wanted] = [0, preludeLength];
  for await (const bytes of body?.values({ preventCancel: true }) ?? []) {
    onByte();
    chunks.push(bytes);
    size += bytes.length;
    if (size < wanted) continue;
    const held = Buffer.concat(chunks, size);
    const { frames, end, next } = framesIn(held);
    chunks = [held.subarray(end)];
    [size, wanted] = [held.length - end, next];
    if (frames.length > 0) yield frames;
  }
}

/** Returns the frames, where the last one ends, and how many bytes the next one needs. */
function framesIn(held: Buffer): { frames: Frame[]; end: number; next: number } {
  const frames: Frame[] = [];
  let end = 0;
  while (held.length - end >= preludeLength) {
    const length = held.readUInt32BE(end);
    if (length < frameMin_bytes || length > frameMax_bytes) throw new Error(`A frame cannot have ${length} bytes.`);
    if (held.length - end < length) return { frames, end, next: length };
    frames.push(readFrame(held.subarray(end, end + length)));
    end += length;
  }
  return { frames, end, next: preludeLength };
}

function readFrame(bytes: Uint8Array): Frame {
  const { headers, body } = codec.decode(bytes);
  const textOf = (name: string) => String(headers[name]?.value ?? "");
  const kind = textOf(":message-type");
  if (kind === "exception") return { kind, type: textOf(":exception-type"), payload: decoder.decode(body) };
  if (kind === "error") return { kind, type: textOf(":error-code"), payload: textOf(":error-message") };
  return { kind: "event", type: textOf(":event-type"), payload: decoder.decode(body) };
}
