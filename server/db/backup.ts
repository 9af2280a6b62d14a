import { Database } from "bun:sqlite";
import { realpathSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { CopyRefused, copyDatabase } from "./copy.ts";
import { looksLikeDatabase, nameDamage } from "./damage.ts";
import { packMasterKey } from "./key-fact.ts";
import { requireOwn, versionOf } from "./version.ts";

export interface BackUp {
  /** Replaces an earlier backup of the same name. */
  force?: boolean;
  /** Put into the backup, which then opens every secret that is in it. */
  masterKey?: Uint8Array | null;
}

/** What a backup came to. */
export interface Backup {
  path: string;
  bytes: number;
  version: number;
}

/** Copies the database into one file as it stands at this moment. It only reads: nobody who writes waits for it. */
export function backUp(database: string, file: string, { force = false, masterKey = null }: BackUp = {}): Backup {
  const path = resolve(file);
  if (!looksLikeDatabase(database)) throw new CopyRefused(`There is no database ${database}: nothing to back up.`);
  requireTarget(path, database, force);
  const sqlite = new Database(database, { readonly: true });
  try {
    sqlite.run("PRAGMA busy_timeout = 5000");
    requireOwn(sqlite, database);
    copyDatabase(sqlite, path, (copy) => masterKey && packMasterKey(copy, masterKey));
    return { path, bytes: statSync(path).size, version: versionOf(sqlite) };
  } catch (error) {
    throw nameDamage(error, database);
  } finally {
    sqlite.close();
  }
}

/** Nothing but an earlier backup is ever replaced: a slip of the pen may not cost the database or its key. */
function requireTarget(path: string, database: string, force: boolean): void {
  if (!statSync(dirname(path), { throwIfNoEntry: false })?.isDirectory())
    throw new CopyRefused(`There is no folder ${dirname(path)}.`);
  const there = statSync(path, { throwIfNoEntry: false });
  if (!there) return;
  if (!force) throw new CopyRefused(`${path} exists. Give another name, or --force to replace it.`);
  if (!there.isFile() || realpathSync(path) === realpathSync(database))
    throw new CopyRefused(`${path} is no backup and is not replaced.`);
  looksLikeDatabase(path, "It is no backup and is not replaced.");
}
