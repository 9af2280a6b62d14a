import { gzipSync } from "node:zlib";

type Entry = readonly [path: string, content: Uint8Array, mode?: number];

/** An archive of files by their paths, as npm packs one: nothing in it says when or where it was made. */
export const gzippedTar = (files: readonly Entry[]): Uint8Array => gzipSync(tarOf(files), { level: 9 });

export function tarOf(files: readonly Entry[]): Buffer {
  const blocks = files.flatMap(([path, content, mode = 0o644]) => [
    headerOf(path, content.length, mode),
    padded(content),
  ]);
  return Buffer.concat([...blocks, Buffer.alloc(2 * blockSize)]);
}

const blockSize = 512;
/** The time that npm gives to every file: 1985-10-26T08:15:00Z. */
const mtime = 499_162_500;

/** Of a file in an archive by POSIX (ustar). Throws for a path that does not fit. */
function headerOf(path: string, length: number, mode: number): Buffer {
  const header = Buffer.alloc(blockSize);
  const octal = (value: number, width: number): string => value.toString(8).padStart(width - 1, "0");
  if (Buffer.byteLength(path) > 100) throw new Error(`The path is too long for an archive: ${path}`);
  header.write(path, 0);
  header.write(octal(mode, 8), 100);
  header.write(octal(0, 8), 108); // Nobody's, and of no group.
  header.write(octal(0, 8), 116);
  header.write(octal(length, 12), 124);
  header.write(octal(mtime, 12), 136);
  header.write("        0", 148); // The sum is made as if spaces stood in its place; then the type: a file.
  header.write("ustar\x0000", 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 7)}\0 `, 148);
  return header;
}

const padded = (content: Uint8Array): Buffer =>
  Buffer.concat([content, Buffer.alloc((blockSize - (content.length % blockSize)) % blockSize)]);
