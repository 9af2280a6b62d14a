import { closeSync, openSync, readSync } from "node:fs";
import {
  addPages,
  type Frames,
  frameHead_bytes,
  indexHead_bytes,
  logHead_bytes,
  page_bytes,
  readLogEnd,
  type Stretch,
} from "./frames.ts";

/** Reads what commits have appended to the log of a database. */
interface Capture {
  /**
   * What was committed since it was last asked; null: nothing. To be asked after each commit, in the same tick, and
   * before each checkpoint. Throws when commits of somebody else are lost to it.
   */
  take(): Frames | null;
  /** Of the log, up to where it was read. */
  length_bytes(): number;
  close(): void;
}

/** Of the database at `path`, from the beginning of its log. */
export function createCapture(path: string): Capture {
  const index = Buffer.alloc(indexHead_bytes);
  let files: { log: number; index: number } | null = null;
  let [taken, salt] = [0, ""];

  function look() {
    files ??= { log: openSync(`${path}-wal`, "r"), index: openSync(`${path}-shm`, "r") };
    for (;;) {
      readSync(files.index, index, 0, indexHead_bytes, 0);
      const end = readLogEnd(index);
      if (end) return { log: files.log, end };
    }
  }

  return {
    take() {
      const { log, end } = look();
      if (end.salt !== salt) {
        // The log was begun again, and its first salt counts how often: once since we looked, or we have missed commits.
        if (taken > 0 && restartsOf(end.salt) !== (restartsOf(salt) + 1) >>> 0)
          throw new Error("The write-ahead log was begun again by somebody else.");
        [salt, taken] = [end.salt, 0];
      }
      if (end.frames === taken) return null;
      const pages: Frames["pages"] = new Map();
      for (let from = taken; from < end.frames; from += stretchFrames)
        addPages(pages, read(log, from, Math.min(end.frames, from + stretchFrames)), end);
      taken = end.frames;
      return { size_pages: end.size_pages, pages };
    },
    length_bytes: () => taken * frame_bytes,
    close() {
      if (files) for (const file of Object.values(files)) closeSync(file);
      files = null;
    },
  };
}

const frame_bytes = frameHead_bytes + page_bytes;
// 64 MB at once: a migration that writes a table anew leaves gigabytes, and a buffer takes 4 of them.
const stretchFrames = 16_384;

/** A stretch of the log, up to a frame that is not in it. */
function read(log: number, from: number, to: number): Stretch {
  const bytes = Buffer.allocUnsafe((to - from) * frame_bytes);
  for (let at = 0, length = 0; at < bytes.length; at += length) {
    length = readSync(log, bytes, at, bytes.length - at, logHead_bytes + from * frame_bytes + at);
    if (length === 0) throw new Error("The write-ahead log is shorter than its index says.");
  }
  return { bytes, to };
}

const restartsOf = (salt: string): number => Number.parseInt(salt.slice(0, 8), 16);
