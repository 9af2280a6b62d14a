import { decodeHead, encodeHead } from "./head.ts";
import type { Program } from "./program.ts";

/** A program as it goes to the child: a head, and the bytes of its files. */
export function encodeProgram({ files, ...program }: Program): Uint8Array[] {
  const head = { ...program, files: files.map(({ name, bytes }) => ({ name, size: bytes.length })) };
  return [encodeHead(head), ...files.map(({ bytes }) => bytes)];
}

/** The same at the other end. `read` gives so many bytes; null: the server wants nothing any more. */
export function decodeProgram(read: (length: number) => Uint8Array<ArrayBuffer> | null): Program | null {
  const head = decodeHead<Head>(read);
  if (!head) return null;
  const { files, ...program } = head;
  const taken = files.map(({ name, size }) => ({ name, bytes: read(size) }));
  return { ...program, files: taken.flatMap(({ name, bytes }) => (bytes ? [{ name, bytes }] : [])) };
}

type Head = Omit<Program, "files"> & { files: { name: string; size: number }[] };
