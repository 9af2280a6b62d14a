import { pipeline, Readable } from "node:stream";
import type { ReadableStream as NodeReadableStream } from "node:stream/web";
import { constants, createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { EgressError } from "./egress-error.ts";

/** Reads at most `maxBytes` of a body, counted after decoding; a longer one is cut there and marked. */
export async function readBody(
  response: Response,
  maxBytes: number,
): Promise<{ body: Uint8Array; truncated: boolean }> {
  const parts: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of decoded(response)) {
      const part = chunk.subarray(0, maxBytes - size);
      parts.push(part);
      size += part.length;
      if (part.length < chunk.length) return { body: Buffer.concat(parts), truncated: true };
    }
  } catch (error) {
    if (!isDecodingError(error)) throw error;
    throw new EgressError("response_invalid", "The response is not encoded as its content-encoding says.");
  }
  return { body: Buffer.concat(parts), truncated: false };
}

/** Whether `readBody` undoes this encoding. */
export const isDecoded = (encoding: string | null): boolean => Object.hasOwn(decoders, encoding?.toLowerCase() ?? "");

// A flush at the end accepts a body that stops early or is empty, as browsers do.
const zlib = { finishFlush: constants.Z_SYNC_FLUSH };
const decoders = {
  gzip: () => createGunzip(zlib),
  "x-gzip": () => createGunzip(zlib),
  deflate: () => createInflate(zlib),
  br: () => createBrotliDecompress({ finishFlush: constants.BROTLI_OPERATION_FLUSH }),
} as const;

/** We ask for no encoding; for servers that encode all the same, decoding keeps pace with the reader and its cap. */
function decoded({ body, headers }: Response): AsyncIterable<Uint8Array> {
  if (!body) return Readable.from([]);
  const encoding = headers.get("content-encoding")?.toLowerCase() ?? "";
  if (!isDecoded(encoding)) return body;
  const source = Readable.fromWeb(body as unknown as NodeReadableStream);
  // Errors reach the reader through the decoder; the callback is only there so that they are not thrown a second time.
  return pipeline(source, decoders[encoding as keyof typeof decoders](), () => {});
}

const isDecodingError = (error: unknown): boolean =>
  error instanceof Error && "code" in error && /^(Z_|ERR_)/.test(String(error.code));
