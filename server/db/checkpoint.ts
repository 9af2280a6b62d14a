import type { Database } from "bun:sqlite";
import { statSync } from "node:fs";
import { createLogMover, type LogMover, type Mode } from "./log-mover.ts";
import type { Writer } from "./writer.ts";

const busy_ms = 5000;

/**
 * Moves the log into the database and gives its room back, without waiting for anybody: while another process reads (a
 * backup), or the disk is full, it stays as long as it is. Waiting would hold every writer up, in all processes.
 */
export function truncateLog(sqlite: Database): void {
  sqlite.run("PRAGMA busy_timeout = 0");
  try {
    sqlite.run("PRAGMA wal_checkpoint(TRUNCATE)");
  } catch {
    // Nothing is lost: the log is read at the next start.
  } finally {
    sqlite.run(`PRAGMA busy_timeout = ${busy_ms}`);
  }
}

// What a commit writes goes into the log, and from there into the database: at every thousandth page (4 MB), as SQLite
// itself would do it in that commit, while everybody waits for the disk. The log is written from its beginning again once all
// of it was moved and nobody reads it. What is left to do is to shorten the file after a storm or a long reader. What it
// needs anyway stays: a commit that must make the file longer takes twice the time.
const many_pages = 1000;
const [smallLog_bytes, largeLog_bytes] = [8 * 1024 * 1024, 64 * 1024 * 1024];
// While it is moved the log grows so far, and then commits wait: what is in it takes room twice, which a small disk has not.
const most_pages = 2 * many_pages;
// Commits wait so long for the rest of it. If the disk takes longer the log grows, and nothing else is lost.
const hold_ms = 1000;

const threadRoom_bytes = 16 * 1024 * 1024;

interface Written {
  sqlite: Database;
  write: Pick<Writer, "commits" | "timed" | "hold">;
}

interface KeepShort {
  /** What a full disk gets back for what is under way: the size of the ballast. */
  room_bytes?: number;
  mover?: LogMover;
  look_ms?: number;
}

/**
 * Keeps the log short, and its file, by a thread of its own; on a small disk at once, since a thread lets the log grow
 * meanwhile, which a full disk could not take into the database any more. The file is looked after when nothing is written,
 * and in a storm only once it is large.
 */
export function keepLogShort(
  { sqlite, write }: Written,
  path: string,
  { room_bytes = threadRoom_bytes, mover, look_ms = 2000 }: KeepShort = {},
): { stop(): void } {
  const { move: moveLog, end } = mover ?? (room_bytes < threadRoom_bytes ? moverHere(sqlite) : createLogMover(path));
  const pages = pagesOf(sqlite);
  /** Pages in the log when it was last moved, unless it has begun anew. */
  let before = 0;
  let [isMoving, isOver, isHeld] = [false, false, false];
  let moved: Promise<boolean> = Promise.resolve(true);

  async function move(mode: Mode): Promise<void> {
    isMoving = true;
    isHeld = false;
    moved = moveLog("PASSIVE");
    let isMoved = await moved;
    // Little is left of it by now. Commits wait for that: while they go on, some of the log is always left.
    if (isMoved && !isOver) isMoved = await write.hold(moveLog(mode), hold_ms);
    // Where it cannot, SQLite does as it would without it.
    if (!isOver) sqlite.run(`PRAGMA wal_autocheckpoint = ${isMoved ? 0 : many_pages}`);
    before = pages() ?? before;
    isMoving = false;
  }

  function look(): void {
    const log = pages();
    if (log === null || isOver) return;
    if (log < before) before = 0;
    if (!isMoving && log - before >= many_pages) void move("PASSIVE");
    if (!isMoving || isHeld || log - before < most_pages) return;
    isHeld = true;
    void write.hold(moved, hold_ms);
  }

  if (pages() !== null) {
    sqlite.run("PRAGMA wal_autocheckpoint = 0");
    write.timed(look);
  }
  let seen = write.commits();
  const timer = setInterval(() => {
    const size = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
    const idle = seen === write.commits();
    seen = write.commits();
    if (!isMoving && (size > largeLog_bytes || (idle && size > smallLog_bytes))) void move("TRUNCATE");
  }, look_ms).unref();

  return {
    stop() {
      isOver = true;
      clearInterval(timer);
      end();
    },
  };
}

/** Moves the log in this thread, while everybody waits. */
function moverHere(sqlite: Database): LogMover {
  return {
    async move(mode) {
      try {
        if (mode === "TRUNCATE") truncateLog(sqlite);
        else sqlite.run("PRAGMA wal_checkpoint(PASSIVE)");
        return true;
      } catch {
        return false; // The disk is full, or fails: the log stays as long as it is.
      }
    },
    end() {},
  };
}

/**
 * Asks how many pages are in the log. Null where that cannot be told now, since a statement is in the middle of its rows,
 * or ever: an older SQLite takes the question for an order to move the log.
 */
function pagesOf(sqlite: Database): () => number | null {
  const { version } = sqlite.query<{ version: string }, []>("SELECT sqlite_version() AS version").get()!;
  if (Bun.semver.order(version, "3.51.0") < 0) return () => null;
  const question = sqlite.query<{ log: number }, []>("PRAGMA wal_checkpoint(NOOP)");
  return () => {
    try {
      return sqlite.inTransaction ? null : question.get()!.log;
    } catch {
      return null;
    }
  };
}
