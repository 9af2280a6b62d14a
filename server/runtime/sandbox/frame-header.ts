import { parseExact } from "../../lib/exact-numbers.ts";

/** Encodes the header before binary data: the length of its JSON, and the JSON. */
export function encodeFrameHeader(head: object): Uint8Array {
  const json = Buffer.from(JSON.stringify(head));
  const length = new Uint8Array(4);
  new DataView(length.buffer).setUint32(0, json.length, true);
  return Buffer.concat([length, json]);
}

/** Decodes the header. `read` returns this many bytes, or null if the server has closed the pipe. */
export function decodeFrameHeader<Head>(read: (length: number) => Uint8Array<ArrayBuffer> | null): Head | null {
  const length = read(4);
  const json = length && read(new DataView(length.buffer).getUint32(0, true));
  return json && parseExact(new TextDecoder().decode(json));
}
