import { decodeFrameHeader, encodeFrameHeader } from "./frame-header.ts";
import type { Program, ProgramFile } from "./program.ts";

/** Encodes a program for the child: a head, and the bytes of its files. */
export function encodeProgram({ files, mounted = [], ...program }: Program): Uint8Array[] {
  const head: Head = {
    ...program,
    files: files.map(sizeOf),
    ...(mounted.length > 0 && { mounted: mounted.map(sizeOf) }),
  };
  return [encodeFrameHeader(head), ...files.map(({ bytes }) => bytes), ...mounted.map(({ bytes }) => bytes)];
}

const sizeOf = ({ name, bytes }: ProgramFile): FileSize => ({ name, size: bytes.length });

/** Decodes a program. `read` returns this many bytes, or null if the server has closed the pipe. */
export function decodeProgram(read: (length: number) => Uint8Array<ArrayBuffer> | null): Program | null {
  const head = decodeFrameHeader<Head>(read);
  if (!head) return null;
  const { files, mounted = [], ...program } = head;
  const readFile = ({ name, size }: FileSize): ProgramFile[] => {
    const bytes = read(size);
    return bytes ? [{ name, bytes }] : [];
  };
  return { ...program, files: files.flatMap(readFile), mounted: mounted.flatMap(readFile) };
}

interface FileSize {
  name: string;
  size: number;
}

type Head = Omit<Program, "files" | "mounted"> & { files: FileSize[]; mounted?: FileSize[] };
