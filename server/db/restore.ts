import { Database } from "bun:sqlite";
import { chmodSync, copyFileSync, existsSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { migrations } from "../../migrations/index.ts";
import { failpoint } from "../lib/failpoint.ts";
import { faultsOf } from "./check.ts";
import { CopyRefused } from "./copy.ts";
import { DatabaseUnusable, isDamage, looksLikeDatabase } from "./damage.ts";
import { DataDirInUse } from "./data-dir.ts";
import { isDiskFull } from "./disk-full.ts";
import { syncFile, syncFolder } from "./durable-file.ts";
import { finishRestore, forget, isRestoring, type Replaced, readyOf, undecidedOf } from "./finish-restore.ts";
import { giveToFolderOwner } from "./folder-owner.ts";
import { masterKeyId, readMasterKeyId, unpackMasterKey } from "./key-fact.ts";
import { DatabaseTooNew, requireOwn, versionOf } from "./version.ts";

interface Restore {
  /** Replaces what is there; it is kept beside. */
  force?: boolean;
  /** The key that the next start will have; null if there is none yet. */
  masterKey: Uint8Array | null;
}

/** What a restore came to. */
export interface Restored extends Replaced {
  version: number;
  /** Runs that the next start takes up. */
  runs_in_progress: number;
  /** Whether the secrets in the backup can be decrypted: by the key that was here or came along, or not at all. */
  master_key: "here" | "restored" | "missing" | "unknown";
  /** Names the key that is needed. */
  master_key_id: string | null;
}

const remedy = "It is not a backup of runnel. Nothing was changed.";

/**
 * Puts a backup in the place of a database that nobody uses: the caller holds the data directory's lock. Everything is
 * checked on a copy first. One rename then decides, and what follows is carried out after a crash by whoever opens the
 * data directory next: it is the old database with its log and its key, or the new one with its own.
 */
export function restore(file: string, database: string, { force = false, masterKey }: Restore): Restored {
  const source = resolve(file);
  if (!looksLikeDatabase(source, remedy)) throw new CopyRefused(`There is no backup ${source}.`);
  requirePlace(source, database, force);
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
      giveToFolderOwner(ready.key);
    }
    failpoint?.("mid_restore");
    mergeLog(database);
    failpoint?.("mid_restore");
    renameSync(partial, ready.database);
    syncFolder(dirname(database));
    failpoint?.("mid_restore");
    return { ...found, ...finishRestore(database), master_key };
  } catch (error) {
    if (isDiskFull(error)) throw new CopyRefused(`There is no room for the backup in ${dirname(database)}.`);
    throw error;
  } finally {
    forget(partial);
    if (!isRestoring(database)) rmSync(ready.key, { force: true });
  }
}

function requirePlace(source: string, database: string, force: boolean): void {
  const there = existsSync(database);
  if (there && realpathSync(source) === realpathSync(database))
    throw new CopyRefused(`${source} is the database itself.`);
  if (there && !force)
    throw new CopyRefused(`There is a database ${database}. --force replaces it; the old one is kept beside.`);
}

/** Somebody may have copied a database with its log instead of making a backup: then both belong together. */
function bring(source: string, partial: string): void {
  forget(partial);
  for (const part of ["", "-wal"].filter((part) => part === "" || existsSync(source + part))) {
    copyFileSync(source + part, partial + part);
    chmodSync(partial + part, 0o600);
    giveToFolderOwner(partial + part);
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
    sqlite.run("PRAGMA journal_mode = DELETE"); // Moves a log into the file.
    requireOwn(sqlite, source, remedy);
    const version = versionOf(sqlite);
    if (version > migrations.length) throw new DatabaseTooNew(version);
    const faults = faultsOf(sqlite, "full");
    if (faults.length > 0) throw new DatabaseUnusable(source, `is damaged: ${faults.join("; ")}`, damagedRemedy);
    const packed = unpackMasterKey(sqlite);
    const count = sqlite.query<{ n: number }, []>("SELECT count(*) AS n FROM runs WHERE status = 'in_progress'");
    return { version, runs_in_progress: count.get()!.n, packed, master_key_id: readMasterKeyId(sqlite) };
  } catch (error) {
    throw isDamage(error)
      ? new DatabaseUnusable(source, `is damaged (${(error as Error).message})`, damagedRemedy)
      : error;
  } finally {
    sqlite.close();
  }
}

const damagedRemedy = "Nothing was changed. Try an older backup.";

/**
 * Moves the old database's log into it. Throws `DataDirInUse` while another process, such as a backup, has the database
 * open: what that writes would be lost.
 */
function mergeLog(database: string): void {
  try {
    if (!looksLikeDatabase(database)) return; // Asked first: SQLite would delete the log of one that is empty.
    using sqlite = new Database(database, { readwrite: true });
    sqlite.run("PRAGMA journal_mode = DELETE"); // Takes the database for itself, and then leaves no log.
  } catch (error) {
    if (String((error as { code?: unknown }).code).startsWith("SQLITE_BUSY")) throw new DataDirInUse(dirname(database));
    // It is replaced because it is broken.
  }
}

/** What the database notes of its key counts: a packed one may have been the wrong one. */
function judgeKey(packed: Uint8Array | null, noted: string | null, present: Uint8Array | null): Restored["master_key"] {
  const needed = noted ?? (packed && masterKeyId(packed));
  if (needed === null) return "unknown";
  if (present && masterKeyId(present) === needed) return "here";
  return packed && masterKeyId(packed) === needed ? "restored" : "missing";
}
