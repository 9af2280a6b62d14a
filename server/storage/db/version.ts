import { Database } from "bun:sqlite";
import { migrations } from "../../../migrations/index.ts";
import { DatabaseUnusable, describeCorruption, looksLikeDatabase } from "./corruption.ts";

/** Thrown for a database of a newer runnel: opening it could lose data that this version does not know. */
export class DatabaseTooNew extends Error {
  constructor(found: number, known = migrations.length) {
    super(
      `The database has version ${found}, this executable knows versions up to ${known}. Start the newer runnel, or restore a backup.`,
    );
    this.name = "DatabaseTooNew";
  }
}

/** Returns the number of the newest migration of an open database. */
export const versionOf = (sqlite: Database): number =>
  sqlite.query<{ user_version: number }, []>("PRAGMA user_version").get()?.user_version ?? 0;

/** Throws `DatabaseUnusable` for another program's database, which must not be mixed with ours. */
export function requireOwn(sqlite: Database, path: string, remedy?: string): void {
  if (!sqlite.query("SELECT 1 FROM sqlite_schema WHERE name = 'run_events'").get())
    throw new DatabaseUnusable(path, "is a database of another program", remedy);
}

/** Returns the version of the database at `path` without changing it. */
export function databaseVersion(path: string): number {
  looksLikeDatabase(path);
  const sqlite = new Database(path, { readonly: true });
  try {
    sqlite.run("PRAGMA busy_timeout = 5000");
    return versionOf(sqlite);
  } catch (error) {
    throw describeCorruption(error, path);
  } finally {
    sqlite.close();
  }
}
