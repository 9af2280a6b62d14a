import { closeSync, openSync, readSync } from "node:fs";
import {
  addPages,
  type Commits,
  frame_bytes,
  frameHead_bytes,
  indexHead_bytes,
  logHead_bytes,
  type PageImage,
  readLogEnd,
  type WalFrames,
} from "./wal-frames.ts";

/** Reads commits from the WAL of a database. */
interface WalReader {
  /**
   * Returns the changes committed since the last call, or null. Call it after each commit, in the same tick, and before
   * each checkpoint. Throws if another connection's commits were missed, or if the WAL has restarted although pages of
   * earlier commits are still to be loaded (`hasUnread`).
   */
  take(hasUnread?: boolean): Commits | null;
  /**
   * Reads the pages that are only in the WAL, into the same map. Their bytes are valid until the next call, which uses the
   * same memory. Throws if the WAL has restarted.
   */
  load(frames: WalFrames<PageImage>): WalFrames;
  /** Bytes of the WAL that were read. */
  length_bytes(): number;
  close(): void;
}

/** Creates a reader of the database at `path`, from the beginning of its WAL. */
export function createWalReader(path: string): WalReader {
  const index = Buffer.alloc(indexHead_bytes);
  let files: { log: number; index: number } | null = null;
  let [readFrames, salt] = [0, ""];
  let loaded = Buffer.alloc(0);

  function currentEnd() {
    files ??= { log: openSync(`${path}-wal`, "r"), index: openSync(`${path}-shm`, "r") };
    for (;;) {
      readSync(files.index, index, 0, indexHead_bytes, 0);
      const end = readLogEnd(index);
      if (end) return { log: files.log, end };
    }
  }

  /** Replaces frames by the bytes of their pages. */
  function readPages(frames: readonly [page: number, frame: number][], images: WalFrames["pages"]): void {
    const { log, end } = currentEnd();
    if (loaded.length < frames.length * frame_bytes) loaded = Buffer.allocUnsafe(frames.length * frame_bytes);
    for (const [index, [page, number]] of frames.entries()) {
      const frame = loaded.subarray(index * frame_bytes, (index + 1) * frame_bytes);
      readFully(log, frame, number);
      if (end.salt !== salt || frame.toString("hex", 8, 16) !== salt || frame.readUInt32BE(0) !== page)
        throw new Error(`The write-ahead log has another page at frame ${number}.`);
      images.set(page, frame.subarray(frameHead_bytes));
    }
  }

  return {
    take(hasUnread = false) {
      const { log, end } = currentEnd();
      if (end.salt !== salt) {
        if (hasUnread) throw new Error("The write-ahead log was begun again before a large commit was read.");
        // The WAL has restarted. Its first salt counts restarts: more than one since the last call means missed
        // commits.
        if (readFrames > 0 && restartsOf(end.salt) !== (restartsOf(salt) + 1) >>> 0)
          throw new Error("The write-ahead log was begun again by another process.");
        [salt, readFrames] = [end.salt, 0];
      }
      if (end.frames === readFrames) return null;
      const pages: WalFrames<PageImage>["pages"] = new Map();
      const isUnread = end.frames - readFrames > stretchFrames;
      // Buffers that are dropped would stay in memory until the garbage is collected.
      const bytes = Buffer.allocUnsafe(Math.min(stretchFrames, end.frames - readFrames) * frame_bytes);
      for (let from = readFrames; from < end.frames; from += stretchFrames) {
        const to = Math.min(end.frames, from + stretchFrames);
        readFully(log, bytes.subarray(0, (to - from) * frame_bytes), from);
        addPages(pages, { bytes, from, to }, end, isUnread);
      }
      readFrames = end.frames;
      return { size_pages: end.size_pages, pages, isUnread };
    },
    load({ size_pages, pages }) {
      const unread = [...pages].filter((page): page is [number, number] => typeof page[1] === "number");
      const images = pages as WalFrames["pages"];
      if (unread.length > 0) readPages(unread, images);
      return { size_pages, pages: images };
    },
    length_bytes: () => readFrames * frame_bytes,
    close() {
      if (files) for (const file of Object.values(files)) closeSync(file);
      files = null;
    },
  };
}

// 4 MB at once. Of a commit with more frames only their numbers are taken.
const stretchFrames = 1024;

/** Fills a buffer with whole frames of the WAL, from this one on. */
function readFully(log: number, bytes: Buffer, from: number): void {
  for (let at = 0, length = 0; at < bytes.length; at += length) {
    length = readSync(log, bytes, at, bytes.length - at, logHead_bytes + from * frame_bytes + at);
    if (length === 0) throw new Error("The write-ahead log is shorter than its index says.");
  }
}

const restartsOf = (salt: string): number => Number.parseInt(salt.slice(0, 8), 16);
