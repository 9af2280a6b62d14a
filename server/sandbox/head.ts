import { parseExact } from "../lib/exact-numbers.ts";

/** What goes before bytes: the length of its JSON, and the JSON. */
export function encodeHead(head: object): Uint8Array {
  const json = Buffer.from(JSON.stringify(head));
  const length = new Uint8Array(4);
  new DataView(length.buffer).setUint32(0, json.length, true);
  return Buffer.concat([length, json]);
}

/** The same at the other end. `read` gives so many bytes; null: the server wants nothing any more. */
export function decodeHead<Head>(read: (length: number) => Uint8Array<ArrayBuffer> | null): Head | null {
  const length = read(4);
  const json = length && read(new DataView(length.buffer).getUint32(0, true));
  return json && parseExact(new TextDecoder().decode(json));
}
