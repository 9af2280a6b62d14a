import type { Program } from "./program.ts";

/** A program as it goes to the child: the length of a JSON head, the head, and the bytes of its files. */
export function encodeProgram({ files, ...program }: Program): Uint8Array[] {
  const head = new TextEncoder().encode(
    JSON.stringify({ ...program, files: files.map(({ name, bytes }) => ({ name, size: bytes.length })) }),
  );
  const length = new Uint8Array(4);
  new DataView(length.buffer).setUint32(0, head.length, true);
  return [length, head, ...files.map(({ bytes }) => bytes)];
}

/** The same at the other end. `read` gives so many bytes; null: the server wants nothing any more. */
export function decodeProgram(read: (length: number) => Uint8Array<ArrayBuffer> | null): Program | null {
  const length = read(4);
  const head = length && read(new DataView(length.buffer).getUint32(0, true));
  if (!head) return null;
  const { files, ...program } = JSON.parse(new TextDecoder().decode(head)) as Head;
  const taken = files.map(({ name, size }) => ({ name, bytes: read(size) }));
  return { ...program, files: taken.flatMap(({ name, bytes }) => (bytes ? [{ name, bytes }] : [])) };
}

type Head = Omit<Program, "files"> & { files: { name: string; size: number }[] };
