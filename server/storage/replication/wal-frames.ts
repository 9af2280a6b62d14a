/** SQLite's default, which runnel never changes. */
export const page_bytes = 4096;
/** Bytes of the header before each page in the WAL. */
export const frameHead_bytes = 24;
/** Bytes of a frame: its header and its page. */
export const frame_bytes = frameHead_bytes + page_bytes;
/** Bytes of the header before the first frame. */
export const logHead_bytes = 32;
/** Bytes at the beginning of the WAL index: its header, twice. */
export const indexHead_bytes = 96;

/** Pages changed by commits: the newest image of each page by its number, from 1. */
export interface WalFrames<Image = Uint8Array> {
  /** Pages of the database after the commits; 0 for a piece that others follow. */
  size_pages: number;
  pages: Map<number, Image>;
}

/** A page's bytes; of a large commit only its frame in the WAL, from 0, because a migration may rewrite gigabytes. */
export type PageImage = Uint8Array | number;

/** Commits as they are taken from the WAL. */
export interface Commits extends WalFrames<PageImage> {
  /** True if pages of them are only in the WAL. */
  isUnread: boolean;
}

/** 2 MB: compressing and sending a larger piece would delay other commits, and its copies take memory. */
export const piecePages = 512;

/** Number of rows of the log that frames take. */
export const countPieces = ({ pages }: WalFrames<unknown>, maxPages = piecePages): number =>
  Math.max(1, Math.ceil(pages.size / maxPages));

/** Splits frames into rows of the log, one at a time. A reader must apply all pieces or none. */
export function* inPieces<Image>(
  { size_pages, pages }: WalFrames<Image>,
  maxPages = piecePages,
): Generator<WalFrames<Image>> {
  let rest = pages.size;
  let piece: WalFrames<Image>["pages"] = new Map();
  for (const [number, image] of pages) {
    piece.set(number, image);
    rest--;
    if (piece.size < maxPages || rest === 0) continue;
    yield { size_pages: 0, pages: piece };
    piece = new Map();
  }
  yield { size_pages, pages: piece };
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

/** Consecutive whole frames of the WAL, from frame `from` to frame `to` (exclusive). */
interface Stretch {
  bytes: Buffer;
  from: number;
  to: number;
}

/**
 * Adds the pages of a stretch: their bytes, or with `isUnread` their frames. Throws if the WAL's last frame is not the one
 * that its index names.
 */
export function addPages(
  pages: WalFrames<PageImage>["pages"],
  { bytes, from, to }: Stretch,
  { frames, checksum }: LogEnd,
  isUnread: boolean,
): void {
  for (let frame = from; frame < to; frame++) {
    const at = (frame - from) * frame_bytes;
    pages.set(bytes.readUInt32BE(at), isUnread ? frame : bytes.subarray(at + frameHead_bytes, at + frame_bytes));
  }
  const last = (to - from - 1) * frame_bytes;
  if (to === frames && (bytes.readUInt32BE(last + 16) !== checksum[0] || bytes.readUInt32BE(last + 20) !== checksum[1]))
    throw new Error("The write-ahead log does not end where its index says.");
}

/** Adds newer commits to older ones, as if they were one. */
export function addCommits(older: Commits, newer: Commits): void {
  older.size_pages = newer.size_pages;
  older.isUnread ||= newer.isUnread;
  for (const [number, image] of newer.pages) older.pages.set(number, image);
}

// Reused, because what each piece of a large commit takes stays in memory until the garbage is collected.
let raw = Buffer.alloc(0);

/** Encodes size, count, page numbers and images, and compresses the whole. */
export function encodeFrames({ size_pages, pages }: WalFrames): Buffer {
  const head_bytes = 8 + 4 * pages.size;
  const length = head_bytes + page_bytes * pages.size;
  if (raw.length < length) raw = Buffer.allocUnsafe(length);
  raw.writeUInt32LE(size_pages, 0);
  raw.writeUInt32LE(pages.size, 4);
  let index = 0;
  for (const [number, image] of pages) {
    raw.writeUInt32LE(number, 8 + 4 * index);
    raw.set(image, head_bytes + page_bytes * index);
    index++;
  }
  return compress(raw.subarray(0, length));
}

export function decodeFrames(encoded: Uint8Array): WalFrames {
  const decoded = asBuffer(Bun.zstdDecompressSync(encoded));
  const count = decoded.readUInt32LE(4);
  const images = decoded.subarray(8 + 4 * count);
  const pages: WalFrames["pages"] = new Map();
  for (let index = 0; index < count; index++)
    pages.set(decoded.readUInt32LE(8 + 4 * index), images.subarray(index * page_bytes, (index + 1) * page_bytes));
  return { size_pages: decoded.readUInt32LE(0), pages };
}

export const compress = (bytes: Uint8Array<ArrayBuffer>): Buffer => asBuffer(Bun.zstdCompressSync(bytes, { level: 1 }));

const asBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);
