import { existsSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { failpoint } from "../../lib/failpoint.ts";
import { syncFolder } from "./durable-file.ts";
import { deleteVectorCache } from "./vector-cache.ts";

/** Names under which a restore keeps the old files; null for a file that did not exist. */
export interface Replaced {
  replaced: string | null;
  /** The old database's WAL, if it could not be merged: the two belong together. */
  replaced_log: string | null;
  /** The old master key, if it was another one. */
  replaced_key: string | null;
}

/** Files that a restore prepares. Once `database` exists, the restore is decided and will replace the old one. */
export const readyOf = (database: string) => ({
  database: `${database}.restored`,
  key: join(dirname(database), "master.key.restored"),
});

/** Files of a restore that is not decided: the downloaded backup, and a copy to be checked. */
export const undecidedOf = (database: string) => ({
  fetched: `${database}.fetched`,
  partial: `${database}.restoring`,
});

/** Deletes the files of a restore that died before it was decided, each as large as a database. Requires the lock. */
export function forgetUndecided(database: string): void {
  for (const path of Object.values(undecidedOf(database))) forget(path);
  if (!isRestoring(database)) rmSync(readyOf(database).key, { force: true });
}

/** Deletes a database with its WAL and journal. */
export function forget(path: string): void {
  for (const part of ["", "-wal", "-shm", "-journal"]) rmSync(path + part, { force: true });
}

/** True if a restore is decided but not completed: its process is running or has died. */
export const isRestoring = (database: string): boolean => existsSync(readyOf(database).database);

/**
 * Completes a decided restore. Requires the data directory's lock. Only renames and deletes, which a full disk allows,
 * and can be repeated after a crash.
 */
export function recoverRestore(database: string): Replaced {
  const ready = readyOf(database);
  // The same names after a crash, so that the old database and its WAL are found together.
  const stamp = statSync(ready.database).mtime.toISOString().replace(/[:.]/g, "-");
  const replaced_key = placeKey(ready.key, join(dirname(database), "master.key"), stamp);
  failpoint?.("mid_restore");
  // Moved away before the new database arrives: SQLite would apply the old WAL to it.
  const replaced_log = moveAside(database, stamp, "-wal");
  moveAside(database, stamp, "-journal");
  rmSync(`${database}-shm`, { force: true });
  deleteVectorCache(database);
  failpoint?.("mid_restore");
  const replaced = moveAside(database, stamp);
  syncFolder(dirname(database)); // Otherwise a power failure could bring the WAL back after the last rename.
  failpoint?.("mid_restore");
  renameSync(ready.database, database);
  syncFolder(dirname(database));
  return { replaced, replaced_log, replaced_key };
}

function placeKey(ready: string, path: string, stamp: string): string | null {
  if (!existsSync(ready)) return null;
  const isSame = existsSync(path) && readFileSync(path).equals(readFileSync(ready));
  const asidePath = isSame ? null : moveAside(path, stamp);
  failpoint?.("mid_restore");
  renameSync(ready, path);
  return asidePath;
}

/** Renames a file to keep it; deletes it if it is empty. */
function moveAside(path: string, stamp: string, part = ""): string | null {
  const as = `${path}.replaced-${stamp}${part}`;
  const stats = statSync(path + part, { throwIfNoEntry: false });
  if (stats?.size === 0 && stats.isFile()) rmSync(path + part);
  else if (stats) renameSync(path + part, as);
  return existsSync(as) ? as : null; // Also if an earlier attempt renamed it.
}
