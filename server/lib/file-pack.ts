/** Contents of files by name. */
export type PackedFiles = Record<string, Uint8Array>;

/** Packs files into one: the length of a head, the head with the range of each in JSON, and the bytes. */
export function packFiles(files: PackedFiles): Uint8Array {
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
  // Many time zones are aliases and share their bytes.
  const ranges = Object.fromEntries(Object.entries(files).map(([name, bytes]) => [name, place(bytes)]));
  const head = Buffer.from(JSON.stringify(ranges));
  const size = Buffer.alloc(4);
  size.writeUInt32LE(head.length);
  return Buffer.concat([size, head, ...pieces]);
}

export function unpackFiles(bytes: Uint8Array): PackedFiles {
  const end = 4 + new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const head: Record<string, [number, number]> = JSON.parse(new TextDecoder().decode(bytes.subarray(4, end)));
  return Object.fromEntries(
    Object.entries(head).map(([name, [from, to]]) => [name, bytes.subarray(end + from, end + to)]),
  );
}
