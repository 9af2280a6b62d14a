import { Database } from "bun:sqlite";
import { chmodSync, copyFileSync, existsSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { migrations } from "../../../migrations/index.ts";
import { failpoint } from "../../lib/failpoint.ts";
import { faultsOf } from "./check.ts";
import { chownLikeParent } from "./chown-like-parent.ts";
import { CopyRefused } from "./copy.ts";
import { DatabaseUnusable, isCorrupt, looksLikeDatabase } from "./corruption.ts";
import { DataDirInUse } from "./data-dir.ts";
import { isDiskFull } from "./disk-guard.ts";
import { syncFile, syncFolder } from "./durable-file.ts";
import { masterKeyId, readMasterKeyId, unpackMasterKey } from "./master-key-fingerprint.ts";
import { forget, isRestoring, type Replaced, readyOf, recoverRestore, undecidedOf } from "./restore-recovery.ts";
import { DatabaseTooNew, requireOwn, versionOf } from "./version.ts";

interface Restore {
  /** Replaces an existing database, which is kept under another name. */
  force?: boolean;
  /** Master key of the next start; null if there is none yet. */
  masterKey: Uint8Array | null;
}

export interface Restored extends Replaced {
  version: number;
  /** Number of runs that the next start will resume. */
  runs_in_progress: number;
  /** Key that decrypts the backup's secrets: the one present, the one restored with the backup, or none. */
  master_key: "here" | "restored" | "missing" | "unknown";
  /** Id of the key that the secrets need. */
  master_key_id: string | null;
}

const remedy = "It is not a backup of runnel. Nothing was changed.";

/**
 * Replaces a database with a backup. The caller holds the data directory's lock. Everything is checked on a copy first;
 * then one rename decides. After a crash the next opening completes the rest: the result is the old database with its
 * WAL and key, or the new one with its own.
 */
export function restore(file: string, database: string, { force = false, masterKey }: Restore): Restored {
  const source = resolve(file);
  if (!looksLikeDatabase(source, remedy)) throw new CopyRefused(`There is no backup ${source}.`);
  requireFreeTarget(source, database, force);
  const { partial } = undecidedOf(database);
  const ready = readyOf(database);
  try {
    bring(source, partial);
    failpoint?.("mid_restore");
    const { packed, ...found } = inspect(partial, source);
    syncFile(partial);
    const master_key = judgeKey(packed, found.master_key_id, masterKey);
    rmSync(ready.key, { force: true });
    if (packed && master_key === "restored") {
      writeFileSync(ready.key, `${packed.toHex()}\n`, { mode: 0o600, flush: true });
      chownLikeParent(ready.key);
    }
    failpoint?.("mid_restore");
    mergeLog(database);
    failpoint?.("mid_restore");
    renameSync(partial, ready.database);
    syncFolder(dirname(database));
    failpoint?.("mid_restore");
    return { ...found, ...recoverRestore(database), master_key };
  } catch (error) {
    if (isDiskFull(error)) throw new CopyRefused(`There is no room for the backup in ${dirname(database)}.`);
    throw error;
  } finally {
    forget(partial);
    if (!isRestoring(database)) rmSync(ready.key, { force: true });
  }
}

function requireFreeTarget(source: string, database: string, force: boolean): void {
  const exists = existsSync(database);
  if (exists && realpathSync(source) === realpathSync(database))
    throw new CopyRefused(`${source} is the database itself.`);
  if (exists && !force)
    throw new CopyRefused(`There is a database ${database}. --force replaces it; the old one is kept beside.`);
}

/** Copies the backup. A database copied with its WAL instead of a proper backup is accepted: both belong together. */
function bring(source: string, partial: string): void {
  forget(partial);
  for (const part of ["", "-wal"].filter((part) => part === "" || existsSync(source + part))) {
    copyFileSync(source + part, partial + part);
    chmodSync(partial + part, 0o600);
    chownLikeParent(partial + part);
  }
}

interface Found {
  version: number;
  runs_in_progress: number;
  packed: Uint8Array | null;
  master_key_id: string | null;
}

function inspect(partial: string, source: string): Found {
  const sqlite = new Database(partial, { readwrite: true, strict: true });
  try {
    sqlite.run("PRAGMA journal_mode = DELETE"); // Merges a WAL into the file.
    requireOwn(sqlite, source, remedy);
    const version = versionOf(sqlite);
    if (version > migrations.length) throw new DatabaseTooNew(version);
    const faults = faultsOf(sqlite, "full");
    if (faults.length > 0) throw new DatabaseUnusable(source, `is damaged: ${faults.join("; ")}`, damagedRemedy);
    const packed = unpackMasterKey(sqlite);
    const count = sqlite.query<{ n: number }, []>("SELECT count(*) AS n FROM runs WHERE status = 'in_progress'");
    return { version, runs_in_progress: count.get()?.n ?? 0, packed, master_key_id: readMasterKeyId(sqlite) };
  } catch (error) {
    throw isCorrupt(error)
      ? new DatabaseUnusable(source, `is damaged (${(error as Error).message})`, damagedRemedy)
      : error;
  } finally {
    sqlite.close();
  }
}

const damagedRemedy = "Nothing was changed. Try an older backup.";

/**
 * Merges the old database's WAL into it. Throws `DataDirInUse` while another process (a backup) has the database open:
 * its writes would be lost.
 */
function mergeLog(database: string): void {
  try {
    if (!looksLikeDatabase(database)) return; // Checked first: SQLite would delete the WAL of an empty database.
    using sqlite = new Database(database, { readwrite: true });
    sqlite.run("PRAGMA journal_mode = DELETE"); // Locks the database exclusively and removes the WAL.
  } catch (error) {
    if (String((error as { code?: unknown }).code).startsWith("SQLITE_BUSY")) throw new DataDirInUse(dirname(database));
    // Any other error: the database is replaced because it is broken.
  }
}

/** Returns the state of the master key. The key id in the database decides: a packed key may be the wrong one. */
function judgeKey(
  packed: Uint8Array | null,
  storedId: string | null,
  currentKey: Uint8Array | null,
): Restored["master_key"] {
  const needed = storedId ?? (packed && masterKeyId(packed));
  if (needed === null) return "unknown";
  if (currentKey && masterKeyId(currentKey) === needed) return "here";
  return packed && masterKeyId(packed) === needed ? "restored" : "missing";
}
