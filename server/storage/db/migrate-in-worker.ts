import { Database } from "bun:sqlite";
import { migrations } from "../../../migrations/index.ts";
import { migrateEntry } from "../../lib/assets.ts";
import { startThread } from "../../lib/start-thread.ts";
import { looksLikeDatabase } from "./corruption.ts";
import { type Db, type OpenDatabase, openDatabase } from "./open.ts";
import { databaseVersion } from "./version.ts";

/** Request to the worker that migrates a database. */
export interface ToMigrate {
  path: string;
  vecLibrary: string | null;
  /** Leaves the changes in the WAL, from which they are shipped. */
  keepsLog: boolean;
}

/** Result of a migration: null on success, or the error. */
export type Migrated = { name: string; message: string } | null;

const startMigration = startThread<ToMigrate, Migrated>(migrateEntry);

/**
 * Migrates the database at `path` in a worker: the copy and the migrations may take minutes, and the main thread has a
 * lease to renew. Does nothing if there is no database. Throws errors with the same names as `openDatabase`.
 */
export async function migrateInWorker(path: string, vecLibrary: string | null, keepsLog = false): Promise<void> {
  if (!looksLikeDatabase(path) || databaseVersion(path) >= migrations.length) return;
  const { promise, resolve, reject } = Promise.withResolvers<Migrated>();
  const thread = startMigration(resolve, (reason) => reject(new Error(`The thread that migrates ended: ${reason}`)));
  thread.send({ path, vecLibrary, keepsLog });
  const fault = await promise;
  thread.end();
  if (fault) throw Object.assign(new Error(fault.message), { name: fault.name });
}

/** Opens a database that is shipped, as `openDatabase` does, but migrates it in a worker. */
export async function openInWorker(path: string, options: OpenDatabase): Promise<Db> {
  // An open connection keeps the WAL when the worker closes its own. SQLite opens the file with the first read.
  using connection = new Database(path, { readwrite: true, strict: true });
  connection.query("SELECT count(*) FROM sqlite_schema").get();
  await migrateInWorker(path, options.vecLibrary ?? null, true);
  return openDatabase(path, options);
}
