import { gzipSync } from "node:zlib";

/** A file, or a folder if its path ends with `/`. The owner is a user id, and the id of that user's group; 0 is root. */
export type TarEntry = readonly [path: string, content: Uint8Array, mode?: number, owner?: number];

/** Returns an archive of files by path, in npm's format: nothing in it depends on the time or place of its creation. */
export const gzippedTar = (files: readonly TarEntry[]): Uint8Array => gzipSync(tarOf(files), { level: 9 });

export function tarOf(files: readonly TarEntry[]): Buffer {
  const blocks = files.flatMap(([path, content, mode = path.endsWith("/") ? 0o755 : 0o644, owner = 0]) => [
    headerOf(path, content.length, mode, owner),
    content,
    Buffer.alloc((blockSize - (content.length % blockSize)) % blockSize),
  ]);
  return Buffer.concat([...blocks, Buffer.alloc(2 * blockSize)]);
}

/** Returns the folders above these paths, each before its content, as entries of an archive. */
export function foldersAbove(paths: readonly string[]): TarEntry[] {
  const above = paths.flatMap((path) => [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index + 1)));
  return [...new Set(above)].sort().map((path) => [path, new Uint8Array()]);
}

const blockSize = 512;
/** The modification time that npm sets for every file: 1985-10-26T08:15:00Z. */
export const mtime = 499_162_500;

/** Returns a file's header in POSIX format (ustar). Throws if the path is too long. */
function headerOf(path: string, length: number, mode: number, owner: number): Buffer {
  const header = Buffer.alloc(blockSize);
  const octal = (value: number, width: number): string => value.toString(8).padStart(width - 1, "0");
  if (Buffer.byteLength(path) > 100) throw new Error(`The path is too long for an archive: ${path}`);
  header.write(path, 0);
  header.write(octal(mode, 8), 100);
  header.write(octal(owner, 8), 108);
  header.write(octal(owner, 8), 116);
  header.write(octal(length, 12), 124);
  header.write(octal(mtime, 12), 136);
  header.write("        ", 148); // The checksum counts itself as spaces.
  header.write(path.endsWith("/") ? "5" : "0", 156);
  header.write("ustar\x0000", 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 7)}\0 `, 148);
  return header;
}
