import { Database } from "bun:sqlite";
import { existsSync, realpathSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { CopyRefused, copyDatabase } from "./copy.ts";
import { DatabaseUnusable, describeCorruption, hasLog, isCorrupt, looksLikeDatabase } from "./corruption.ts";
import { masterKeyId, packMasterKey, readMasterKeyId } from "./master-key-fingerprint.ts";
import { requireOwn, versionOf } from "./version.ts";

interface BackUp {
  /** Replaces an earlier backup of the same name. */
  force?: boolean;
  /** Master key to include, so that the backup can decrypt its secrets. Refused unless it is the database's own key. */
  masterKey?: Uint8Array | null;
}

interface Backup {
  path: string;
  bytes: number;
  version: number;
}

/** Copies the database as of now into one file. Only reads, so writers are not blocked. */
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
    throw describeCorruption(error, database);
  } finally {
    sqlite.close();
  }
}

/** Replaces nothing but an earlier backup: a mistyped path must not destroy a database or its key. */
function requireTarget(path: string, force: boolean): void {
  if (!statSync(dirname(path), { throwIfNoEntry: false })?.isDirectory())
    throw new CopyRefused(`There is no folder ${dirname(path)}.`);
  if (!existsSync(path)) return;
  if (!force) throw new CopyRefused(`${path} exists. Give another name, or --force to replace it.`);
  const realTarget = realpathSync(path);
  looksLikeDatabase(realTarget, notReplaced);
  // A served database has a WAL. One that was restored and not started yet has none, but lies in a data directory.
  if (hasLog(realTarget) || existsSync(join(dirname(realTarget), "lock.db")))
    throw new CopyRefused(`${path} belongs to a data directory. ${notReplaced}`);
  requireOurs(realTarget);
}

const notReplaced = "It is no backup and is not replaced.";

function requireOurs(path: string): void {
  const sqlite = new Database(path, { readonly: true });
  try {
    requireOwn(sqlite, path, notReplaced);
  } catch (error) {
    throw isCorrupt(error) ? new DatabaseUnusable(path, "is damaged", notReplaced) : error;
  } finally {
    sqlite.close();
  }
}

/** Throws `CopyRefused` if this is not the database's key: such a backup would look complete until it is needed. */
function requireKeyOf(sqlite: Database, key: Uint8Array): void {
  const [neededKeyId, keyId] = [readMasterKeyId(sqlite), masterKeyId(key)];
  if (neededKeyId === null)
    throw new CopyRefused(
      "It is not recorded yet which master key belongs to the database. A start of the server does: then try again.",
    );
  if (neededKeyId !== keyId)
    throw new CopyRefused(
      `The master key ${keyId} that was found is not the one of the database, which is ${neededKeyId}. Set RUNNEL_MASTER_KEY as for the server.`,
    );
}
