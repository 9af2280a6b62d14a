import { Database } from "bun:sqlite";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { migrations } from "../../migrations/index.ts";
import { faultsOf } from "./check.ts";
import { truncateLog } from "./checkpoint.ts";
import { CopyRefused } from "./copy.ts";
import { DatabaseUnusable, isDamage, looksLikeDatabase } from "./damage.ts";
import { isDiskFull } from "./disk-full.ts";
import { syncFile, syncFolder } from "./durable-file.ts";
import { masterKeyId, readMasterKeyId, unpackMasterKey } from "./key-fact.ts";
import { DatabaseTooNew, requireOwn, versionOf } from "./version.ts";

export interface Restore {
  /** Replaces what is there; it is kept beside. */
  force?: boolean;
  /** The key that the next start will have; null if there is none yet. */
  masterKey: Uint8Array | null;
  now?: () => number;
}

/** What a restore came to. */
export interface Restored {
  version: number;
  /** Runs that the next start takes up. */
  runs_in_progress: number;
  /** Where the database that was there before is kept. */
  replaced: string | null;
  /** Whether the secrets in the backup can be decrypted: by the key that was here or came along, or not at all. */
  master_key: "here" | "restored" | "missing" | "unknown";
  /** Names the key that is needed. */
  master_key_id: string | null;
}

const remedy = "It is not a backup of runnel. Nothing was changed.";

/**
 * Puts a backup in the place of a database that nobody uses: the caller holds the data directory's lock. Everything is
 * checked on a copy first; then one rename makes it the database, so that a crash leaves the old one or the new one.
 */
export function restore(
  file: string,
  database: string,
  { force = false, masterKey, now = Date.now }: Restore,
): Restored {
  const source = resolve(file);
  if (!looksLikeDatabase(source, remedy)) throw new CopyRefused(`There is no backup ${source}.`);
  requirePlace(source, database, force);
  const partial = `${database}.restoring`;
  try {
    bring(source, partial);
    const found = inspect(partial, source);
    syncFile(partial);
    const stamp = new Date(now()).toISOString().replace(/[:.]/g, "-");
    const replaced = setAside(database, `${database}.replaced-${stamp}`);
    const master_key = placeKey(found, masterKey, join(dirname(database), "master.key"), stamp);
    renameSync(partial, database);
    syncFolder(dirname(database));
    const { version, runs_in_progress, master_key_id } = found;
    return { version, runs_in_progress, replaced, master_key, master_key_id };
  } catch (error) {
    if (isDiskFull(error)) throw new CopyRefused(`There is no room for the backup in ${dirname(database)}.`);
    throw error;
  } finally {
    forget(partial);
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

/** Keeps the old database, with its log in it. No log may be left to the new one: it is not a part of it. */
function setAside(database: string, replaced: string): string | null {
  const there = existsSync(database);
  if (there) mergeLog(database);
  // One that is damaged could not be merged.
  for (const part of ["", "-wal"]) if (existsSync(database + part)) keep(database + part, replaced + part);
  syncFolder(dirname(database));
  for (const part of ["-wal", "-shm", "-journal"]) rmSync(database + part, { force: true });
  return there ? replaced : null;
}

function mergeLog(database: string): void {
  try {
    const sqlite = new Database(database, { readwrite: true });
    truncateLog(sqlite);
    sqlite.close();
  } catch {
    // It is replaced because it is broken.
  }
}

/** A second name for the same file; a copy where the file system has no such thing. */
function keep(path: string, as: string): void {
  try {
    linkSync(path, as);
  } catch {
    copyFileSync(path, as);
  }
}

function placeKey(
  { packed, master_key_id }: Found,
  present: Uint8Array | null,
  path: string,
  stamp: string,
): Restored["master_key"] {
  const needed = packed ? masterKeyId(packed) : master_key_id;
  if (needed === null) return "unknown";
  if (present && masterKeyId(present) === needed) return "here";
  if (!packed) return "missing";
  if (existsSync(path)) renameSync(path, `${path}.replaced-${stamp}`);
  writeFileSync(path, `${packed.toHex()}\n`, { mode: 0o600, flush: true });
  return "restored";
}

function forget(partial: string): void {
  for (const part of ["", "-wal", "-shm", "-journal"]) rmSync(partial + part, { force: true });
}
