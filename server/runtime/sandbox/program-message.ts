import { decodeFrameHeader, encodeFrameHeader } from "./frame-header.ts";
import type { Program } from "./program.ts";

/** Encodes a program for the child: a head, and the bytes of its files. */
export function encodeProgram({ files, ...program }: Program): Uint8Array[] {
  const head = { ...program, files: files.map(({ name, bytes }) => ({ name, size: bytes.length })) };
  return [encodeFrameHeader(head), ...files.map(({ bytes }) => bytes)];
}

/** Decodes a program. `read` returns this many bytes, or null if the server has closed the pipe. */
export function decodeProgram(read: (length: number) => Uint8Array<ArrayBuffer> | null): Program | null {
  const head = decodeFrameHeader<Head>(read);
  if (!head) return null;
  const { files, ...program } = head;
  const contents = files.map(({ name, size }) => ({ name, bytes: read(size) }));
  return { ...program, files: contents.flatMap(({ name, bytes }) => (bytes ? [{ name, bytes }] : [])) };
}

type Head = Omit<Program, "files"> & { files: { name: string; size: number }[] };
