import { existsSync } from "node:fs";
import { migrations } from "../../migrations/index.ts";
import { type DataDir, openDataDir } from "../db/data-dir.ts";
import { type Db, openDatabase } from "../db/open.ts";
import { DatabaseTooNew, databaseVersion } from "../db/version.ts";

interface Data {
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
    const db = openDatabase(dir.database, { vecLibrary: dir.vecLibrary() });
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
  if (version > migrations.length) throw new DatabaseTooNew(version);
  return version === migrations.length;
}
