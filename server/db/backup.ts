import { Database } from "bun:sqlite";
import { existsSync, realpathSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { CopyRefused, copyDatabase } from "./copy.ts";
import { DatabaseUnusable, hasLog, isDamage, looksLikeDatabase, nameDamage } from "./damage.ts";
import { masterKeyId, packMasterKey, readMasterKeyId } from "./key-fact.ts";
import { requireOwn, versionOf } from "./version.ts";

interface BackUp {
  /** Replaces an earlier backup of the same name. */
  force?: boolean;
  /** Put into the backup, which then opens every secret that is in it. Refused unless it is the database's own. */
  masterKey?: Uint8Array | null;
}

/** What a backup came to. */
interface Backup {
  path: string;
  bytes: number;
  version: number;
}

/** Copies the database into one file as it stands at this moment. It only reads: nobody who writes waits for it. */
export function backUp(database: string, file: string, { force = false, masterKey = null }: BackUp = {}): Backup {
  const path = resolve(file);
  if (!looksLikeDatabase(database)) throw new CopyRefused(`There is no database ${database}: nothing to back up.`);
  requireTarget(path, force);
  const sqlite = new Database(database, { readonly: true });
  try {
    sqlite.run("PRAGMA busy_timeout = 5000");
    requireOwn(sqlite, database);
    if (masterKey) requireKeyOf(sqlite, masterKey);
    copyDatabase(sqlite, path, (copy) => masterKey && packMasterKey(copy, masterKey));
    return { path, bytes: statSync(path).size, version: versionOf(sqlite) };
  } catch (error) {
    throw nameDamage(error, database);
  } finally {
    sqlite.close();
  }
}

/** Nothing but an earlier backup is ever replaced: a slip of the pen may not cost a database or its key. */
function requireTarget(path: string, force: boolean): void {
  if (!statSync(dirname(path), { throwIfNoEntry: false })?.isDirectory())
    throw new CopyRefused(`There is no folder ${dirname(path)}.`);
  if (!existsSync(path)) return;
  if (!force) throw new CopyRefused(`${path} exists. Give another name, or --force to replace it.`);
  const there = realpathSync(path);
  looksLikeDatabase(there, notReplaced);
  // One that is served has a log. One that was restored and not started yet has none, but lies in a data directory.
  if (hasLog(there) || existsSync(join(dirname(there), "lock.db")))
    throw new CopyRefused(`${path} belongs to a data directory. ${notReplaced}`);
  requireOurs(there);
}

const notReplaced = "It is no backup and is not replaced.";

function requireOurs(path: string): void {
  const sqlite = new Database(path, { readonly: true });
  try {
    requireOwn(sqlite, path, notReplaced);
  } catch (error) {
    throw isDamage(error) ? new DatabaseUnusable(path, "is damaged", notReplaced) : error;
  } finally {
    sqlite.close();
  }
}

/** A backup that came with another key than its own would look complete until the day it is needed. */
function requireKeyOf(sqlite: Database, key: Uint8Array): void {
  const [needed, found] = [readMasterKeyId(sqlite), masterKeyId(key)];
  if (needed === null)
    throw new CopyRefused(
      "Nobody has noted yet which master key belongs to the database. A start of the server does: then try again.",
    );
  if (needed !== found)
    throw new CopyRefused(
      `The master key ${found} that was found is not the one of the database, which is ${needed}. Set RUNNEL_MASTER_KEY as for the server.`,
    );
}
