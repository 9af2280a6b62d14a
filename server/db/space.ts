import type { Database } from "bun:sqlite";
import { statfsSync } from "node:fs";
import { AppError } from "../core/errors.ts";
import type { Log } from "../lib/log.ts";
import type { Ballast } from "./ballast.ts";

/** Of a disk of this size, how much is kept free. */
export type Reserve = (disk_bytes: number) => number;

/** 512 MB, or 5 % of a disk on which that would be much. */
export const defaultReserve: Reserve = (disk_bytes) => Math.min(512 * 1024 * 1024, disk_bytes * 0.05);

/** Watches the room on the disk, so that new work is refused before what was begun cannot be finished. */
interface Space {
  /** Throws `storage_full` when the disk has less room than is kept free, as of a moment ago or (`fresh`) just now. */
  requireRoom(fresh?: boolean): void;
  /** Looks now and not at its next time. */
  look(): void;
  stop(): void;
}

interface SpaceOptions {
  folder: string;
  sqlite: Database;
  ballast: Ballast;
  reserve?: Reserve;
  log: Log;
  look_ms?: number;
}

const retryAfter_seconds = 30;
// A storm of requests fills a megabyte in less than a second. To look costs a microsecond or two.
const fresh_ms = 20;

export function createSpace({
  folder,
  sqlite,
  ballast,
  reserve = defaultReserve,
  log,
  look_ms = 1000,
}: SpaceOptions): Space {
  const freePages = sqlite.query<{ n: number }, []>(
    "SELECT freelist_count * page_size AS n FROM pragma_freelist_count, pragma_page_size",
  );
  let isLow = false;
  let free = 0;
  let kept = 0;
  let looked_at = 0;

  function look(): void {
    looked_at = performance.now();
    const { bavail, bsize, blocks } = statfsSync(folder);
    free = bavail * bsize;
    kept = reserve(blocks * bsize);
    const low = free < kept && !isReusable();
    if (low !== isLow) tell(low);
    isLow = low;
  }

  /** Made only while it does not itself bring the disk below what is kept free. */
  function keepBallast(): void {
    if (!ballast.held() && free - ballast.size_bytes > kept)
      ballast.make().catch((error) => log.warn("the ballast file cannot be written", { error }));
  }

  /** Deleted runs leave room inside of the database. It counts once the disk still has enough for the log. */
  const isReusable = (): boolean => free > kept / 8 && free + freePages.get()!.n > kept;

  function tell(low: boolean): void {
    const fields = { path: folder, free_mb: megabytes(free), kept_free_mb: megabytes(kept) };
    if (low) log.error("the disk is nearly full: new runs are refused until there is room", fields);
    else log.info("the disk has room again: new runs are taken", fields);
  }

  look();
  const timer = setInterval(() => {
    look();
    keepBallast(); // Not at once: a start has better things to do.
  }, look_ms).unref();
  return {
    requireRoom(fresh = false) {
      if (fresh || performance.now() - looked_at > fresh_ms) look();
      if (isLow)
        throw new AppError("storage_full", "The server's disk is nearly full: it takes no new work now.", {
          retryAfter: retryAfter_seconds,
        });
    },
    look,
    stop: () => clearInterval(timer),
  };
}

const megabytes = (bytes: number): number => Math.round(bytes / 1e5) / 10;
