/** SQLite's default, which runnel never changes. */
export const page_bytes = 4096;
/** Bytes of the header before each page in the WAL. */
export const frameHead_bytes = 24;
/** Bytes of the header before the first frame. */
export const logHead_bytes = 32;
/** Bytes at the beginning of the WAL index: its header, twice. */
export const indexHead_bytes = 96;

/** Pages changed by commits: the newest image of each page by its number, from 1. */
export interface WalFrames {
  /** Pages of the database after the commits; 0 for a piece that others follow. */
  size_pages: number;
  pages: Map<number, Uint8Array>;
}

/** 8 MB: compressing and sending a larger piece would delay other commits. */
const piecePages = 2048;

/** Splits frames into rows of the log. A reader must apply all pieces or none. */
export function inPieces({ size_pages, pages }: WalFrames, maxPages = piecePages): WalFrames[] {
  if (pages.size <= maxPages) return [{ size_pages, pages }];
  const all = [...pages];
  const count = Math.ceil(all.length / maxPages);
  return Array.from({ length: count }, (_, n) => ({
    size_pages: n === count - 1 ? size_pages : 0,
    pages: new Map(all.slice(n * maxPages, (n + 1) * maxPages)),
  }));
}

/** The valid end of the WAL. */
interface LogEnd {
  /** Number of frames from the beginning of the WAL. */
  frames: number;
  size_pages: number;
  /** Changes when the WAL restarts. */
  salt: string;
  /** Checksum of the last frame and all before it. */
  checksum: readonly [number, number];
}

/**
 * Reads the header of the index (`-shm`). Only this header tells the end: after it there may be frames of a rolled back
 * transaction with valid salts. Returns null while another connection writes the header.
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

/** Consecutive whole frames of the WAL, up to frame `to` (exclusive). */
export interface Stretch {
  bytes: Buffer;
  to: number;
}

/** Adds the pages of a stretch. Throws if the WAL's last frame is not the one that its index names. */
export function addPages(pages: WalFrames["pages"], { bytes, to }: Stretch, { frames, checksum }: LogEnd): void {
  const frame_bytes = frameHead_bytes + page_bytes;
  for (let at = 0; at < bytes.length; at += frame_bytes)
    pages.set(bytes.readUInt32BE(at), bytes.subarray(at + frameHead_bytes, at + frame_bytes));
  const last = bytes.length - frame_bytes;
  if (to === frames && (bytes.readUInt32BE(last + 16) !== checksum[0] || bytes.readUInt32BE(last + 20) !== checksum[1]))
    throw new Error("The write-ahead log does not end where its index says.");
}

/** Merges both, as if they were one commit. */
export const joined = (older: WalFrames, newer: WalFrames): WalFrames => ({
  size_pages: newer.size_pages,
  pages: new Map([...older.pages, ...newer.pages]),
});

/** Encodes size, count, page numbers and images, and compresses the whole. */
export function encodeFrames({ size_pages, pages }: WalFrames): Buffer {
  const head = Buffer.alloc(8 + 4 * pages.size);
  head.writeUInt32LE(size_pages, 0);
  head.writeUInt32LE(pages.size, 4);
  [...pages.keys()].forEach((number, index) => void head.writeUInt32LE(number, 8 + 4 * index));
  return compress(Buffer.concat([head, ...pages.values()]));
}

export function decodeFrames(encoded: Uint8Array): WalFrames {
  const raw = Buffer.from(Bun.zstdDecompressSync(encoded));
  const count = raw.readUInt32LE(4);
  const images = raw.subarray(8 + 4 * count);
  const pages: WalFrames["pages"] = new Map();
  for (let index = 0; index < count; index++)
    pages.set(raw.readUInt32LE(8 + 4 * index), images.subarray(index * page_bytes, (index + 1) * page_bytes));
  return { size_pages: raw.readUInt32LE(0), pages };
}

export const compress = (bytes: Uint8Array<ArrayBuffer>): Buffer =>
  Buffer.from(Bun.zstdCompressSync(bytes, { level: 1 }));
