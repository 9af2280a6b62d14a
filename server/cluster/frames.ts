/** SQLite's default, which runnel never changes. */
export const page_bytes = 4096;
/** What stands before each page in the log. */
export const frameHead_bytes = 24;
/** What stands before the first frame. */
export const logHead_bytes = 32;
/** The index of the log begins with its header, twice. */
export const indexHead_bytes = 96;

/** What commits have changed: the newest image of each page by its number, from 1. */
export interface Frames {
  /** Of the database after them; 0 for a piece that others follow. */
  size_pages: number;
  pages: Map<number, Uint8Array>;
}

/** 8 MB: what takes longer to compress and to send keeps everybody else waiting. */
const piecePages = 2048;

/** Frames as rows of the log hold them. Whoever reads takes all pieces or none. */
export function inPieces({ size_pages, pages }: Frames, most = piecePages): Frames[] {
  if (pages.size <= most) return [{ size_pages, pages }];
  const all = [...pages];
  const count = Math.ceil(all.length / most);
  return Array.from({ length: count }, (_, n) => ({
    size_pages: n === count - 1 ? size_pages : 0,
    pages: new Map(all.slice(n * most, (n + 1) * most)),
  }));
}

/** How far the log is good. */
interface LogEnd {
  /** Frames from the beginning of the log. */
  frames: number;
  size_pages: number;
  /** Changes when the log is begun again. */
  salt: string;
  /** Of the last frame and all before it. */
  checksum: readonly [number, number];
}

/**
 * Reads the header of the index (`-shm`). Behind the end that it names may stand frames of a transaction that was rolled
 * back after it had spilled, with valid salts: nothing but this header tells. Null while somebody writes it.
 */
export function readLogEnd(index: Buffer): LogEnd | null {
  if (index.compare(index, 48, 96, 0, 48) !== 0) return null;
  return {
    frames: index.readUInt32LE(16),
    size_pages: index.readUInt32LE(20),
    checksum: [index.readUInt32LE(24), index.readUInt32LE(28)],
    salt: index.toString("hex", 32, 40),
  };
}

/** Whole frames of the log, in their order, up to one that is not in it. */
export interface Stretch {
  bytes: Buffer;
  to: number;
}

/** Adds the pages of a stretch. Throws when the frame with which the log ends is not the one that its index names. */
export function addPages(pages: Frames["pages"], { bytes, to }: Stretch, { frames, checksum }: LogEnd): void {
  const frame_bytes = frameHead_bytes + page_bytes;
  for (let at = 0; at < bytes.length; at += frame_bytes)
    pages.set(bytes.readUInt32BE(at), bytes.subarray(at + frameHead_bytes, at + frame_bytes));
  const last = bytes.length - frame_bytes;
  if (to === frames && (bytes.readUInt32BE(last + 16) !== checksum[0] || bytes.readUInt32BE(last + 20) !== checksum[1]))
    throw new Error("The write-ahead log does not end where its index says.");
}

/** Both, as if it had been one commit. */
export const joined = (older: Frames, newer: Frames): Frames => ({
  size_pages: newer.size_pages,
  pages: new Map([...older.pages, ...newer.pages]),
});

/** Size, count, numbers of the pages, images; the whole compressed. */
export function encodeFrames({ size_pages, pages }: Frames): Buffer {
  const head = Buffer.alloc(8 + 4 * pages.size);
  head.writeUInt32LE(size_pages, 0);
  head.writeUInt32LE(pages.size, 4);
  [...pages.keys()].forEach((number, index) => void head.writeUInt32LE(number, 8 + 4 * index));
  return compress(Buffer.concat([head, ...pages.values()]));
}

export function decodeFrames(encoded: Uint8Array): Frames {
  const raw = Buffer.from(Bun.zstdDecompressSync(encoded));
  const count = raw.readUInt32LE(4);
  const images = raw.subarray(8 + 4 * count);
  const pages: Frames["pages"] = new Map();
  for (let index = 0; index < count; index++)
    pages.set(raw.readUInt32LE(8 + 4 * index), images.subarray(index * page_bytes, (index + 1) * page_bytes));
  return { size_pages: raw.readUInt32LE(0), pages };
}

export const compress = (bytes: Uint8Array<ArrayBuffer>): Buffer =>
  Buffer.from(Bun.zstdCompressSync(bytes, { level: 1 }));
