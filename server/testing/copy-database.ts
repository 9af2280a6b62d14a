import { type Db, openDatabase } from "../storage/db/open.ts";

const ofRuns = ["projects", "runs", "run_events", "blobs", "run_blobs", "pending_calls"];

/**
 * Copies the runs of a database, or other tables, as they are now, as a process that crashes at this moment would leave
 * them.
 */
export function copyDatabase({ sqlite }: Db, tables: readonly string[] = ofRuns): Db {
  const copy = openDatabase(":memory:");
  for (const table of tables)
    for (const row of sqlite.query<Record<string, string>, []>(`SELECT * FROM ${table}`).all())
      copy.sqlite
        .query(`INSERT OR REPLACE INTO ${table} (${Object.keys(row)}) VALUES (${Object.keys(row).map(() => "?")})`)
        .run(...Object.values(row));
  return copy;
}
