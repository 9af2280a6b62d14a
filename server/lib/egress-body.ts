import { pipeline, Readable } from "node:stream";
import type { ReadableStream as NodeReadableStream } from "node:stream/web";
import { constants, createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { EgressError } from "./egress-error.ts";

/** Bodies longer than this count as long. */
export const longBody_bytes = 65_536;

/**
 * Reads at most `maxBytes` of a body; cuts and marks a longer one. Waits for `beforeLong` before it reads a long one.
 */
export async function readBody(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
  beforeLong = async () => {},
): Promise<{ body: Uint8Array; truncated: boolean }> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    if (size <= longBody_bytes && size + chunk.length > longBody_bytes) await beforeLong();
    const part = chunk.subarray(0, maxBytes - size);
    parts.push(part);
    size += part.length;
    if (part.length < chunk.length) return { body: Buffer.concat(parts), truncated: true };
  }
  return { body: Buffer.concat(parts), truncated: false };
}

/** Streams a body on demand. Fails if the body exceeds `maxBytes`, and calls `end` when its reader cancels. */
export function limitedStream(
  chunks: AsyncGenerator<Uint8Array, void>,
  maxBytes: number,
  end: () => void,
): ReadableStream<Uint8Array> {
  let left = maxBytes;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { value, done } = await chunks.next();
        if (done) return controller.close();
        left -= value.length;
        if (left >= 0) return controller.enqueue(value);
        end();
        throw new EgressError("response_too_large", `The answer is longer than ${maxBytes} bytes.`, "answered");
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  );
}

/** Yields the decoded bytes of a body, so that limits apply to the inflated size. */
export async function* decodedBody(response: Response): AsyncGenerator<Uint8Array, void> {
  try {
    yield* decoded(response);
  } catch (error) {
    if (!isDecodingError(error)) throw error;
    throw new EgressError("response_invalid", "The response is not encoded as its content-encoding says.", "answered");
  }
}

/** True if `decodedBody` decodes this encoding. */
export const isDecoded = (encoding: string | null): boolean => Object.hasOwn(decoders, encoding?.toLowerCase() ?? "");

// Flushing at the end accepts a truncated or empty body, as browsers do.
const zlib = { finishFlush: constants.Z_SYNC_FLUSH };
const decoders = {
  gzip: () => createGunzip(zlib),
  "x-gzip": () => createGunzip(zlib),
  deflate: () => createInflate(zlib),
  br: () => createBrotliDecompress({ finishFlush: constants.BROTLI_OPERATION_FLUSH }),
} as const;

/**
 * Decodes a body if the server encoded it, although we ask for no encoding. Decoding keeps pace with the reader and its
 * limit.
 */
function decoded({ body, headers }: Response): AsyncIterable<Uint8Array> {
  if (!body) return Readable.from([]);
  const encoding = headers.get("content-encoding")?.toLowerCase() ?? "";
  if (!isDecoded(encoding)) return body;
  const source = Readable.fromWeb(body as unknown as NodeReadableStream);
  // Errors reach the reader through the decoder; the callback only prevents that they are thrown a second time.
  return pipeline(source, decoders[encoding as keyof typeof decoders](), () => {});
}

const isDecodingError = (error: unknown): boolean =>
  error instanceof Error && "code" in error && /^(Z_|ERR_)/.test(String(error.code));
