import type { Database } from "bun:sqlite";
import { statSync } from "node:fs";
import { createWalCheckpointer, type Mode, type WalCheckpointer } from "./wal-checkpointer.ts";
import type { Writer } from "./writer.ts";

const busy_ms = 5000;

/**
 * Checkpoints the WAL and truncates it, without waiting: while another process reads (a backup) or the disk is full, it
 * keeps its length. Waiting would block the writers of all processes.
 */
export function truncateLog(sqlite: Database): void {
  sqlite.run("PRAGMA busy_timeout = 0");
  try {
    sqlite.run("PRAGMA wal_checkpoint(TRUNCATE)");
  } catch {
    // Nothing is lost: the WAL is read at the next start.
  } finally {
    sqlite.run(`PRAGMA busy_timeout = ${busy_ms}`);
  }
}

// Commits append to the WAL, and every thousand pages (4 MB) a checkpoint copies them into the database. SQLite would
// do that inside a commit, while all requests wait for the disk. The WAL is rewritten from its beginning once all of it
// is checkpointed and has no readers. Its file is truncated only after a burst or a long reader: a commit that must
// extend the file takes twice the time.
const many_pages = 1000;
const [smallLog_bytes, largeLog_bytes] = [8 * 1024 * 1024, 64 * 1024 * 1024];
// The WAL may grow this far during a checkpoint; then commits wait, since a small disk has no room for its content
// twice.
const most_pages = 2 * many_pages;
// Commits wait at most this long for a checkpoint. If the disk takes longer, the WAL grows and nothing is lost.
const hold_ms = 1000;

const threadRoom_bytes = 16 * 1024 * 1024;

interface Written {
  sqlite: Database;
  write: Pick<Writer, "commits" | "timed" | "hold">;
}

interface KeepShort {
  /** Size of the ballast, which a full disk gets back. */
  room_bytes?: number;
  mover?: WalCheckpointer;
  look_ms?: number;
}

/**
 * Keeps the WAL and its file short with checkpoints in a worker; on a small disk on this thread, because the WAL grows
 * during a checkpoint in a worker, and a full disk could not take it into the database. The file is truncated when
 * idle, and under load only once it is large.
 */
export function keepLogShort(
  { sqlite, write }: Written,
  path: string,
  { room_bytes = threadRoom_bytes, mover, look_ms = 2000 }: KeepShort = {},
): { stop(): void } {
  const { move: moveLog, end } =
    mover ?? (room_bytes < threadRoom_bytes ? createInlineCheckpointer(sqlite) : createWalCheckpointer(path));
  const pages = pagesOf(sqlite);
  /** Pages in the WAL after its last checkpoint; 0 if it has restarted since. */
  let before = 0;
  let [isMoving, isOver, isHeld] = [false, false, false];
  let moved: Promise<boolean> = Promise.resolve(true);

  async function move(mode: Mode): Promise<void> {
    isMoving = true;
    isHeld = false;
    moved = moveLog("PASSIVE");
    let isMoved = await moved;
    // Commits wait for the small rest: while they continue, part of the WAL always remains.
    if (isMoved && !isOver) isMoved = await write.hold(moveLog(mode), hold_ms);
    // After a failed checkpoint SQLite checkpoints in commits, as it does by default.
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

/** Checkpoints on this thread, which blocks all requests. */
function createInlineCheckpointer(sqlite: Database): WalCheckpointer {
  return {
    async move(mode) {
      try {
        if (mode === "TRUNCATE") truncateLog(sqlite);
        else sqlite.run("PRAGMA wal_checkpoint(PASSIVE)");
        return true;
      } catch {
        return false; // The disk is full or failing: the WAL keeps its length.
      }
    },
    end() {},
  };
}

/**
 * Returns a function that counts the pages in the WAL. It returns null while a statement is iterating, and always with
 * an older SQLite, which would run a checkpoint instead of the NOOP.
 */
function pagesOf(sqlite: Database): () => number | null {
  const { version = "0.0.0" } = sqlite.query<{ version: string }, []>("SELECT sqlite_version() AS version").get() ?? {};
  if (Bun.semver.order(version, "3.51.0") < 0) return () => null;
  const question = sqlite.query<{ log: number }, []>("PRAGMA wal_checkpoint(NOOP)");
  return () => {
    try {
      return sqlite.inTransaction ? null : (question.get()?.log ?? null);
    } catch {
      return null;
    }
  };
}
