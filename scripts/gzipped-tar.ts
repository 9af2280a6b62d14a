import { gzipSync } from "node:zlib";

type Entry = readonly [path: string, content: Uint8Array, mode?: number];

/** Returns an archive of files by path, in npm's format: nothing in it depends on the time or place of its creation. */
export const gzippedTar = (files: readonly Entry[]): Uint8Array => gzipSync(tarOf(files), { level: 9 });

export function tarOf(files: readonly Entry[]): Buffer {
  const blocks = files.flatMap(([path, content, mode = 0o644]) => [
    headerOf(path, content.length, mode),
    padded(content),
  ]);
  return Buffer.concat([...blocks, Buffer.alloc(2 * blockSize)]);
}

const blockSize = 512;
/** The modification time that npm sets for every file: 1985-10-26T08:15:00Z. */
const mtime = 499_162_500;

/** Returns a file's header in POSIX format (ustar). Throws if the path is too long. */
function headerOf(path: string, length: number, mode: number): Buffer {
  const header = Buffer.alloc(blockSize);
  const octal = (value: number, width: number): string => value.toString(8).padStart(width - 1, "0");
  if (Buffer.byteLength(path) > 100) throw new Error(`The path is too long for an archive: ${path}`);
  header.write(path, 0);
  header.write(octal(mode, 8), 100);
  header.write(octal(0, 8), 108); // Without owner and group.
  header.write(octal(0, 8), 116);
  header.write(octal(length, 12), 124);
  header.write(octal(mtime, 12), 136);
  header.write("        0", 148); // The checksum counts itself as spaces; the type after it: a file.
  header.write("ustar\x0000", 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 7)}\0 `, 148);
  return header;
}

const padded = (content: Uint8Array): Buffer =>
  Buffer.concat([content, Buffer.alloc((blockSize - (content.length % blockSize)) % blockSize)]);
