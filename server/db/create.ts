import { Database } from "bun:sqlite";
import { renameSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseUnusable } from "./damage.ts";
import { syncFile, syncFolder } from "./durable-file.ts";
import { migrate } from "./migrate.ts";

/** Makes a database where there is none: whole or not at all, so that an empty file always means a loss. */
export function createDatabase(path: string): void {
  // What is left of a database that somebody lost: a new one in its place would hide that, and end its log.
  if (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size)
    throw new DatabaseUnusable(path, `is missing, but its log ${path}-wal is there`);
  for (const stale of [`${path}-wal`, `${path}-shm`]) rmSync(stale, { force: true });
  const partial = `${path}.partial`;
  rmSync(partial, { force: true });
  const sqlite = new Database(partial, { create: true, strict: true });
  try {
    for (const pragma of ["journal_mode = MEMORY", "synchronous = OFF", "foreign_keys = ON"])
      sqlite.run(`PRAGMA ${pragma}`);
    migrate(sqlite, ":memory:"); // There is nothing yet that an upgrade could spoil.
  } finally {
    sqlite.close();
  }
  syncFile(partial);
  renameSync(partial, path);
  syncFolder(dirname(path));
}
