import { statfsSync } from "node:fs";
import { AppError } from "../../domain/errors.ts";
import type { Log } from "../../lib/log.ts";
import { createPoll } from "../../lib/poll.ts";
import type { Ballast } from "./ballast.ts";
import type { Db } from "./open.ts";

/** Returns the number of bytes to keep free on a disk of this size. */
export type Reserve = (disk_bytes: number) => number;

/** Reserves 512 MB, or 5 % of a smaller disk. */
export const defaultReserve: Reserve = (disk_bytes) => Math.min(512 * 1024 * 1024, disk_bytes * 0.05);

/** Monitors free disk space, so that new work is refused while there is still room to finish the work in progress. */
interface DiskSpace {
  /** Throws `storage_full` if less than the reserve is free, as of the last check or (`fresh`) of this moment. */
  requireRoom(fresh?: boolean): void;
  /** Checks now instead of at the next interval. */
  look(): void;
  stop(): void;
}

interface SpaceOptions {
  folder: string;
  db: Pick<Db, "sqlite" | "write">;
  ballast: Ballast;
  reserve?: Reserve;
  log: Log;
  look_ms?: number;
}

const retryAfter_seconds = 30;
// A burst of requests fills a megabyte in less than a second. A check costs one or two microseconds.
const fresh_ms = 20;
// While nothing is written, only other programs fill the disk. A new run causes a check of its own.
const idle_ms = 5000;

export function createDiskSpace({
  folder,
  db,
  ballast,
  reserve = defaultReserve,
  log,
  look_ms = 1000,
}: SpaceOptions): DiskSpace {
  const freePages = db.sqlite.query<{ n: number }, []>(
    "SELECT freelist_count * page_size AS n FROM pragma_freelist_count, pragma_page_size",
  );
  let isLow = false;
  let free_bytes = 0;
  let reserved_bytes = 0;
  let looked_at = 0;

  function measureRoom(): void {
    looked_at = performance.now();
    const { bavail, bsize, blocks } = statfsSync(folder);
    free_bytes = bavail * bsize;
    reserved_bytes = reserve(blocks * bsize);
    const low = free_bytes < reserved_bytes && !isReusable();
    if (low !== isLow) tell(low);
    isLow = low;
  }

  /** Creates the ballast again, unless that would itself bring the disk below the reserve. */
  function keepBallast(): void {
    if (!ballast.held() && free_bytes - ballast.size_bytes > reserved_bytes)
      ballast.make().catch((error) => log.warn("the ballast file cannot be written", { error }));
  }

  /**
   * True if the free pages that deleted runs left in the database suffice; only while the disk has room for the WAL.
   */
  const isReusable = (): boolean =>
    free_bytes > reserved_bytes / 8 && free_bytes + (freePages.get()?.n ?? 0) > reserved_bytes;

  function tell(low: boolean): void {
    const fields = { path: folder, free_mb: megabytes(free_bytes), kept_free_mb: megabytes(reserved_bytes) };
    if (low) log.error("the disk is nearly full: new runs are refused until there is room", fields);
    else log.info("the disk has room again: new runs are taken", fields);
  }

  measureRoom();
  const poll = createPoll({
    every_ms: look_ms,
    idle_ms,
    look() {
      measureRoom();
      keepBallast(); // Not at once, to keep the start fast.
      return isLow || !ballast.held();
    },
  });
  db.write.timed(poll.wake);
  return {
    requireRoom(fresh = false) {
      if (fresh || performance.now() - looked_at > fresh_ms) measureRoom();
      if (!isLow) return;
      poll.wake(); // Tells the operator within a second that there is room again.
      throw new AppError("storage_full", "The server's disk is nearly full: it takes no new work now.", {
        retryAfter: retryAfter_seconds,
      });
    },
    look: measureRoom,
    stop: poll.stop,
  };
}

const megabytes = (bytes: number): number => Math.round(bytes / 1e5) / 10;
