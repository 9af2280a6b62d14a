import { existsSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { failpoint } from "../lib/failpoint.ts";
import { syncFolder } from "./durable-file.ts";
import { forgetVectors } from "./kept-vectors.ts";

/** Under which names that which was there before a restore is kept; null for what was not there. */
export interface Replaced {
  replaced: string | null;
  /** The old database's log, if that could not be moved into it: the two belong together. */
  replaced_log: string | null;
  /** Another master key. */
  replaced_key: string | null;
}

/** What a restore makes ready. Once `database` is there, it will take the place of the old one, whatever happens. */
export const readyOf = (database: string) => ({
  database: `${database}.restored`,
  key: join(dirname(database), "master.key.restored"),
});

/** What a restore works on before it is decided: the backup as it was fetched, and a copy to be checked. */
export const undecidedOf = (database: string) => ({
  fetched: `${database}.fetched`,
  partial: `${database}.restoring`,
});

/** Deletes what a restore that died undecided has left, each as large as a database. For whoever holds the lock. */
export function forgetUndecided(database: string): void {
  for (const path of Object.values(undecidedOf(database))) forget(path);
  if (!isRestoring(database)) rmSync(readyOf(database).key, { force: true });
}

/** Deletes a database with its logs. */
export function forget(path: string): void {
  for (const part of ["", "-wal", "-shm", "-journal"]) rmSync(path + part, { force: true });
}

/** Whether a restore was decided and not carried out yet: its process is at it, or has died. */
export const isRestoring = (database: string): boolean => existsSync(readyOf(database).database);

/**
 * Carries out a restore that was decided, for whoever holds the data directory's lock. It only renames and deletes, for
 * which a full disk has room, and goes on where a crash has ended it.
 */
export function finishRestore(database: string): Replaced {
  const ready = readyOf(database);
  // The same names again after a crash: the old database and its log must be found together.
  const stamp = statSync(ready.database).mtime.toISOString().replace(/[:.]/g, "-");
  const replaced_key = placeKey(ready.key, join(dirname(database), "master.key"), stamp);
  failpoint?.("mid_restore");
  // Away before the new database comes: SQLite would play another one's log into it.
  const [replaced_log] = ["-wal", "-journal"].map((part) => setAside(database, stamp, part));
  rmSync(`${database}-shm`, { force: true });
  forgetVectors(database);
  failpoint?.("mid_restore");
  const replaced = setAside(database, stamp);
  syncFolder(dirname(database)); // Or a power cut could bring the log back after the last rename.
  failpoint?.("mid_restore");
  renameSync(ready.database, database);
  syncFolder(dirname(database));
  return { replaced, replaced_log: replaced_log!, replaced_key };
}

function placeKey(ready: string, path: string, stamp: string): string | null {
  if (!existsSync(ready)) return null;
  const same = existsSync(path) && readFileSync(path).equals(readFileSync(ready));
  const kept = same ? null : setAside(path, stamp);
  failpoint?.("mid_restore");
  renameSync(ready, path);
  return kept;
}

/** Keeps what is there under another name; an empty file is nothing. */
function setAside(path: string, stamp: string, part = ""): string | null {
  const as = `${path}.replaced-${stamp}${part}`;
  const there = statSync(path + part, { throwIfNoEntry: false });
  if (there?.size === 0 && there.isFile()) rmSync(path + part);
  else if (there) renameSync(path + part, as);
  return existsSync(as) ? as : null; // Also when an earlier attempt did it.
}
