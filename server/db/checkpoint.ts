import type { Database } from "bun:sqlite";
import { statSync } from "node:fs";
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

// SQLite itself moves the log into the database at every thousandth page (4 MB), and writes it from its beginning again
// unless somebody reads. What is left to do is to shorten the file after a storm or a long reader. What it needs anyway
// stays: a commit that must make the file longer takes twice the time.
const [smallLog_bytes, largeLog_bytes] = [8 * 1024 * 1024, 64 * 1024 * 1024];

/** Keeps the file of the log short: looked after when nothing is written, and in a storm only once it is large. */
export function keepLogShort(
  { sqlite, write }: { sqlite: Database; write: Pick<Writer, "commits"> },
  path: string,
  look_ms = 2000,
): { stop(): void } {
  let seen = write.commits();
  const timer = setInterval(() => {
    const size = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
    const idle = seen === write.commits();
    seen = write.commits();
    if (size > largeLog_bytes || (idle && size > smallLog_bytes)) truncateLog(sqlite);
  }, look_ms);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}
