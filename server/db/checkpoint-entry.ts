import { Database } from "bun:sqlite";
import type { ToMover } from "./log-mover.ts";

declare const self: Worker;

let sqlite: Database | null = null;

// Before anything is waited for: what is sent to a thread that does not listen yet is lost.
self.onmessage = ({ data }: MessageEvent<ToMover>) => {
  if (data.do === "move") return self.postMessage(move(data));
  sqlite?.close();
  Atomics.store(data.ended, 0, 1);
  Atomics.notify(data.ended, 0);
};

/** Whether anything could be moved. */
function move({ path, mode }: Extract<ToMover, { do: "move" }>): boolean {
  try {
    sqlite ??= open(path);
    sqlite.run(`PRAGMA wal_checkpoint(${mode})`);
    return true;
  } catch {
    return false; // The disk is full, or fails: the log stays as long as it is.
  }
}

/** It waits for nobody: whoever reads an older state, or writes, comes first. */
function open(path: string): Database {
  const opened = new Database(path, { readwrite: true, strict: true });
  for (const pragma of ["busy_timeout = 0", "synchronous = FULL", "wal_autocheckpoint = 0"])
    opened.run(`PRAGMA ${pragma}`);
  return opened;
}
