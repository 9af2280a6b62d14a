import type { Database } from "bun:sqlite";
import { statSync } from "node:fs";
import { createPoll } from "../../lib/poll.ts";
import { createWalCheckpointer, type Mode, type WalCheckpointer } from "./wal-checkpointer.ts";
import type { Writer } from "./writer.ts";

const busy_ms = 5000;

/**
 * Checkpoints the WAL and truncates it, without waiting: while another process reads (a backup) or the disk is full, it
 * keeps its length. Waiting would block the writers of all processes.
 */
export function checkpointTruncate(sqlite: Database): void {
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
  write: Writer;
}

interface AutoCheckpoint {
  /** Size of the ballast, which a full disk gets back. */
  room_bytes?: number;
  checkpointer?: WalCheckpointer;
  look_ms?: number;
}

/**
 * Keeps the WAL and its file short with checkpoints in a worker; on a small disk on this thread, because the WAL grows
 * during a checkpoint in a worker, and a full disk could not take it into the database. The file is truncated when
 * idle, and under load only once it is large.
 */
export function autoCheckpoint(
  { sqlite, write }: Written,
  path: string,
  { room_bytes = threadRoom_bytes, checkpointer, look_ms = 2000 }: AutoCheckpoint = {},
): { stop(): void } {
  const { checkpoint, end } =
    checkpointer ?? (room_bytes < threadRoom_bytes ? createInlineCheckpointer(sqlite) : createWalCheckpointer(path));
  const pages = pagesOf(sqlite);
  /** Pages in the WAL after its last checkpoint; 0 if it has restarted since. */
  let before = 0;
  let [isRunning, isOver, isHeld] = [false, false, false];
  let current: Promise<boolean> = Promise.resolve(true);

  async function run(mode: Mode): Promise<void> {
    isRunning = true;
    isHeld = false;
    current = checkpoint("PASSIVE");
    let isDone = await current;
    // Commits wait for the small rest: while they continue, part of the WAL always remains.
    if (isDone && !isOver) isDone = await write.hold(checkpoint(mode), hold_ms);
    // After a failed checkpoint SQLite checkpoints in commits, as it does by default.
    if (!isOver) sqlite.run(`PRAGMA wal_autocheckpoint = ${isDone ? 0 : many_pages}`);
    before = pages() ?? before;
    isRunning = false;
  }

  function look(): void {
    const log = pages();
    if (log === null || isOver) return;
    if (log < before) before = 0;
    if (!isRunning && log - before >= many_pages) void run("PASSIVE");
    if (!isRunning || isHeld || log - before < most_pages) return;
    isHeld = true;
    void write.hold(current, hold_ms);
  }

  if (pages() !== null) {
    sqlite.run("PRAGMA wal_autocheckpoint = 0");
    write.timed(look);
  }
  let seenCommits = write.commits();
  const poll = createPoll({
    every_ms: look_ms,
    idle_ms: 60_000, // Another process may write, too.
    look() {
      const size = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
      const idle = seenCommits === write.commits();
      seenCommits = write.commits();
      if (!isRunning && (size > largeLog_bytes || (idle && size > smallLog_bytes))) void run("TRUNCATE");
      return !idle || size > smallLog_bytes; // A reader may prevent the truncation.
    },
  });
  write.timed(poll.wake);

  return {
    stop() {
      isOver = true;
      poll.stop();
      end();
    },
  };
}

/** Checkpoints on this thread, which blocks all requests. */
function createInlineCheckpointer(sqlite: Database): WalCheckpointer {
  return {
    async checkpoint(mode) {
      try {
        if (mode === "TRUNCATE") checkpointTruncate(sqlite);
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
