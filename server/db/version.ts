import { Database } from "bun:sqlite";
import { migrations } from "../../migrations/index.ts";
import { DatabaseUnusable, looksLikeDatabase, nameDamage } from "./damage.ts";

/** The database was written by a newer runnel: opening it could lose what this one does not know. */
export class DatabaseTooNew extends Error {
  constructor(found: number, known = migrations.length) {
    super(
      `The database has version ${found}, this executable knows versions up to ${known}. Start the newer runnel, or restore a backup.`,
    );
    this.name = "DatabaseTooNew";
  }
}

/** The number of the newest migration that an open database has seen. */
export const versionOf = (sqlite: Database): number =>
  sqlite.query<{ user_version: number }, []>("PRAGMA user_version").get()!.user_version;

/** Throws `DatabaseUnusable` for a database that another program made: it would be mixed with ours. */
export function requireOwn(sqlite: Database, path: string, remedy?: string): void {
  if (!sqlite.query("SELECT 1 FROM sqlite_schema WHERE name = 'run_events'").get())
    throw new DatabaseUnusable(path, "is a database of another program", remedy);
}

/** The version of the database at `path`, which stays as it is. */
export function databaseVersion(path: string): number {
  looksLikeDatabase(path);
  const sqlite = new Database(path, { readonly: true });
  try {
    sqlite.run("PRAGMA busy_timeout = 5000");
    return versionOf(sqlite);
  } catch (error) {
    throw nameDamage(error, path);
  } finally {
    sqlite.close();
  }
}
