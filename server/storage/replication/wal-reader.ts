import { closeSync, openSync, readSync } from "node:fs";
import {
  addPages,
  frameHead_bytes,
  indexHead_bytes,
  logHead_bytes,
  page_bytes,
  readLogEnd,
  type Stretch,
  type WalFrames,
} from "./wal-frames.ts";

/** Reads commits from the WAL of a database. */
interface WalReader {
  /**
   * Returns the changes committed since the last call, or null. Call it after each commit, in the same tick, and before
   * each checkpoint. Throws if another connection's commits were missed.
   */
  take(): WalFrames | null;
  /** Bytes of the WAL that were read. */
  length_bytes(): number;
  close(): void;
}

/** Creates a reader of the database at `path`, from the beginning of its WAL. */
export function createWalReader(path: string): WalReader {
  const index = Buffer.alloc(indexHead_bytes);
  let files: { log: number; index: number } | null = null;
  let [readFrames, salt] = [0, ""];

  function currentEnd() {
    files ??= { log: openSync(`${path}-wal`, "r"), index: openSync(`${path}-shm`, "r") };
    for (;;) {
      readSync(files.index, index, 0, indexHead_bytes, 0);
      const end = readLogEnd(index);
      if (end) return { log: files.log, end };
    }
  }

  return {
    take() {
      const { log, end } = currentEnd();
      if (end.salt !== salt) {
        // The WAL has restarted. Its first salt counts restarts: more than one since the last call means missed
        // commits.
        if (readFrames > 0 && restartsOf(end.salt) !== (restartsOf(salt) + 1) >>> 0)
          throw new Error("The write-ahead log was begun again by another process.");
        [salt, readFrames] = [end.salt, 0];
      }
      if (end.frames === readFrames) return null;
      const pages: WalFrames["pages"] = new Map();
      for (let from = readFrames; from < end.frames; from += stretchFrames)
        addPages(pages, read(log, from, Math.min(end.frames, from + stretchFrames)), end);
      readFrames = end.frames;
      return { size_pages: end.size_pages, pages };
    },
    length_bytes: () => readFrames * frame_bytes,
    close() {
      if (files) for (const file of Object.values(files)) closeSync(file);
      files = null;
    },
  };
}

const frame_bytes = frameHead_bytes + page_bytes;
// 64 MB at once: a migration that rewrites a table leaves gigabytes, but a buffer holds at most 4 GB.
const stretchFrames = 16_384;

/** Reads frames `from` to `to` (exclusive) of the WAL. */
function read(log: number, from: number, to: number): Stretch {
  const bytes = Buffer.allocUnsafe((to - from) * frame_bytes);
  for (let at = 0, length = 0; at < bytes.length; at += length) {
    length = readSync(log, bytes, at, bytes.length - at, logHead_bytes + from * frame_bytes + at);
    if (length === 0) throw new Error("The write-ahead log is shorter than its index says.");
  }
  return { bytes, to };
}

const restartsOf = (salt: string): number => Number.parseInt(salt.slice(0, 8), 16);
