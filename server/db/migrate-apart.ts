import { Database } from "bun:sqlite";
import { migrations } from "../../migrations/index.ts";
import { migrateEntry } from "../lib/assets.ts";
import { startThread } from "../lib/start-thread.ts";
import { looksLikeDatabase } from "./damage.ts";
import { type Db, type OpenDatabase, openDatabase } from "./open.ts";
import { databaseVersion } from "./version.ts";

/** What a thread that brings a database forward is told. */
export interface ToMigrate {
  path: string;
  vecLibrary: string | null;
  /** What was changed has to stay in the log, from where it is shipped. */
  keepsLog: boolean;
}

/** Null: the database is of the newest version. */
export type Migrated = { name: string; message: string } | null;

const startMigration = startThread<ToMigrate, Migrated>(migrateEntry);

/**
 * Brings the database at `path` forward in a thread of its own: the copy before the migrations, and they themselves, may
 * take minutes, in which the main thread has a lease to renew. Does nothing where there is no database. Throws errors of
 * the names that `openDatabase` throws.
 */
export async function migrateApart(path: string, vecLibrary: string | null, keepsLog = false): Promise<void> {
  if (!looksLikeDatabase(path) || databaseVersion(path) >= migrations.length) return;
  const { promise, resolve, reject } = Promise.withResolvers<Migrated>();
  const thread = startMigration(resolve, (reason) => reject(new Error(`The thread that migrates ended: ${reason}`)));
  thread.send({ path, vecLibrary, keepsLog });
  const fault = await promise;
  thread.end();
  if (fault) throw Object.assign(new Error(fault.message), { name: fault.name });
}

/** As `openDatabase`, for a database that is shipped: migrations are in a thread of their own. */
export async function openApart(path: string, options: OpenDatabase): Promise<Db> {
  // While it is open the end of the thread leaves the log as it is. It opens with the first reading.
  using held = new Database(path, { readwrite: true, strict: true });
  held.query("SELECT count(*) FROM sqlite_schema").get();
  await migrateApart(path, options.vecLibrary ?? null, true);
  return openDatabase(path, options);
}
