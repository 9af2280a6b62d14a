import { closeSync, openSync, readSync } from "node:fs";
import {
  type Frames,
  frameHead_bytes,
  indexHead_bytes,
  logHead_bytes,
  page_bytes,
  readLogEnd,
  readPages,
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
      const stretch = Buffer.allocUnsafe((end.frames - taken) * frame_bytes);
      const from = logHead_bytes + taken * frame_bytes;
      // The system reads no more than 2 GB at once.
      for (let at = 0, read = 0; at < stretch.length; at += read) {
        read = readSync(log, stretch, at, Math.min(stretch.length - at, 2 ** 30), from + at);
        if (read === 0) throw new Error("The write-ahead log is shorter than its index says.");
      }
      const pages = readPages(stretch, end);
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

const restartsOf = (salt: string): number => Number.parseInt(salt.slice(0, 8), 16);
