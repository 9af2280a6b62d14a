import { Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import { migrations } from "../../migrations/index.ts";
import { type DataDir, openDataDir } from "../db/data-dir.ts";
import { DatabaseTooNew } from "../db/migrate.ts";
import { type Db, openDatabase } from "../db/open.ts";

export interface Data {
  dir: DataDir;
  db: Db;
}

/**
 * Runs a command on the database of a data directory, also while a server runs on it. Only a database that must first
 * be made or brought forward needs the directory for itself: not under the feet of a server of another version.
 */
export async function withData<T>(path: string, { create }: { create: boolean }, work: (data: Data) => Promise<T>) {
  const looked = openDataDir(path, { lock: false, create });
  const dir = isCurrent(looked) ? looked : openDataDir(path, { lock: true, create });
  try {
    const db = openDatabase(dir.database);
    try {
      return await work({ dir, db });
    } finally {
      db.close();
    }
  } finally {
    dir.release();
  }
}

function isCurrent({ database }: DataDir): boolean {
  if (!existsSync(database)) return false;
  const version = databaseVersion(database);
  if (version > migrations.length) throw new DatabaseTooNew(version, migrations.length);
  return version === migrations.length;
}

/** The number of the newest migration that the database has seen. */
export function databaseVersion(path: string): number {
  const db = new Database(path);
  try {
    db.run("PRAGMA busy_timeout = 5000");
    return db.query<{ user_version: number }, []>("PRAGMA user_version").get()!.user_version;
  } finally {
    db.close();
  }
}
