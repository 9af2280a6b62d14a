import { Database } from "bun:sqlite";
import type { ToCheckpointer } from "./wal-checkpointer.ts";

declare const self: Worker;

let sqlite: Database | null = null;

// Set before any await: a message to a worker that has no listener yet is lost.
self.onmessage = ({ data }: MessageEvent<ToCheckpointer>) => {
  if (data.do === "checkpoint") return self.postMessage(checkpoint(data));
  sqlite?.close();
  Atomics.store(data.ended, 0, 1);
  Atomics.notify(data.ended, 0);
};

/** Returns true if the checkpoint ran. */
function checkpoint({ path, mode }: Extract<ToCheckpointer, { do: "checkpoint" }>): boolean {
  try {
    sqlite ??= open(path);
    sqlite.run(`PRAGMA wal_checkpoint(${mode})`);
    return true;
  } catch {
    return false; // The disk is full or failing: the WAL keeps its length.
  }
}

/** Opens with no busy timeout: readers of an older snapshot and writers take precedence. */
function open(path: string): Database {
  const connection = new Database(path, { readwrite: true, strict: true });
  for (const pragma of ["busy_timeout = 0", "synchronous = FULL", "wal_autocheckpoint = 0"])
    connection.run(`PRAGMA ${pragma}`);
  return connection;
}
