import type { Chunking, DocumentChunk } from "../documents/chunking.ts";

/** What a child is told of a document; its bytes come behind it. */
export interface DocumentHead {
  mime_type: string;
  bytes: number;
  chunking: Chunking;
}

/** The length of the JSON, and the JSON. */
export function encodeHead({ mime_type, bytes, chunking }: DocumentHead): Uint8Array {
  const json = new TextEncoder().encode(JSON.stringify({ mime_type, bytes, chunking }));
  const length = new Uint8Array(4);
  new DataView(length.buffer).setUint32(0, json.length, true);
  return Buffer.concat([length, json]);
}

/** The same at the other end. `read` gives so many bytes; null: the server wants nothing any more. */
export function decodeHead(read: (length: number) => Uint8Array<ArrayBuffer> | null): DocumentHead | null {
  const length = read(4);
  const json = length && read(new DataView(length.buffer).getUint32(0, true));
  return json && JSON.parse(new TextDecoder().decode(json));
}

/** How many bytes of text go into one message of chunks, about. */
export const batchBytes = 256 * 1024;

export const encodeChunks = (chunks: readonly DocumentChunk[]): Uint8Array =>
  new TextEncoder().encode(
    JSON.stringify(chunks.map(({ text, tokens, page, heading }) => [text, tokens, page, heading])),
  );
