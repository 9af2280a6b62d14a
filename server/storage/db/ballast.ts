import { rmSync, statfsSync, statSync } from "node:fs";
import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import { isDiskFull } from "./disk-guard.ts";

/** A file that reserves disk space. Deleting it on a full disk frees room to finish work in progress. */
export interface Ballast {
  readonly size_bytes: number;
  held(): boolean;
  /** Deletes the file. Returns true if that freed space. */
  release(): boolean;
  /** Creates the file again. Resolves without one if the disk has no room for it. */
  make(): Promise<void>;
}

const block_bytes = 1024 * 1024;
const most_blocks = 32;

/** Creates a 32 MB ballast, or a sixteenth of a smaller disk: room for the WAL and the end of some hundred runs. */
export function createBallast(folder: string): Ballast {
  const path = join(folder, "ballast");
  const { blocks, bsize } = statfsSync(folder);
  const count = Math.max(1, Math.min(most_blocks, Math.floor((blocks * bsize) / 16 / block_bytes)));
  const size_bytes = count * block_bytes;
  let shouldExist = false;
  let pendingFill: Promise<void> | null = null;

  const sizeNow = (): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

  function release(): boolean {
    shouldExist = false;
    if (sizeNow() === 0) return false;
    rmSync(path, { force: true });
    return true;
  }

  /** Writes random bytes: a file system that compresses or skips zeros would reserve nothing for them. */
  async function fill(): Promise<void> {
    const block = crypto.getRandomValues(new Uint8Array(65_536));
    const bytes = Buffer.concat(Array(block_bytes / block.length).fill(block));
    try {
      await using file = await open(path, "w", 0o600);
      for (let written = 0; written < count && shouldExist; written++) await file.write(bytes);
    } catch (error) {
      if (!isDiskFull(error)) throw error;
      shouldExist = false;
    }
    if (!shouldExist) await rm(path, { force: true });
  }

  return {
    size_bytes,
    held: () => pendingFill === null && sizeNow() === size_bytes,
    release,
    make() {
      if (!pendingFill && sizeNow() !== size_bytes) {
        shouldExist = true;
        pendingFill = fill().finally(() => {
          pendingFill = null;
        });
      }
      return pendingFill ?? Promise.resolve();
    },
  };
}
