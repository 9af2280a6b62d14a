import { encodeFrameHeader } from "./frame-header.ts";

/** Contents of the system's time zone files (TZif, RFC 9636), by zone name. */
export type ZoneFiles = Record<string, Uint8Array>;

/** Packs all files into one: a head with the range of each, and the bytes. */
export function encodeZones(zones: ZoneFiles): Uint8Array {
  const pieces: Uint8Array[] = [];
  const places = new Map<string, [start: number, end: number]>();
  let length = 0;
  const place = (bytes: Uint8Array) => {
    const key = bytes.toBase64();
    if (!places.has(key)) {
      pieces.push(bytes);
      places.set(key, [length, length + bytes.length]);
      length += bytes.length;
    }
    return places.get(key);
  };
  // Many zones are aliases and share their bytes.
  const head = Object.fromEntries(Object.entries(zones).map(([name, bytes]) => [name, place(bytes)]));
  return Buffer.concat([encodeFrameHeader(head), ...pieces]);
}

export function decodeZones(bytes: Uint8Array): ZoneFiles {
  const end = 4 + new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const head: Record<string, [number, number]> = JSON.parse(new TextDecoder().decode(bytes.subarray(4, end)));
  return Object.fromEntries(
    Object.entries(head).map(([name, [from, to]]) => [name, bytes.subarray(end + from, end + to)]),
  );
}
