import { type Db, openDatabase } from "../storage/db/open.ts";

/** Copies the runs of a database as they are now, as a process that crashes at this moment would leave them. */
export function copyDatabase({ sqlite }: Db): Db {
  const copy = openDatabase(":memory:");
  for (const table of ["projects", "runs", "run_events", "blobs", "run_blobs", "pending_calls"])
    for (const row of sqlite.query<Record<string, string>, []>(`SELECT * FROM ${table}`).all())
      copy.sqlite
        .query(`INSERT OR REPLACE INTO ${table} (${Object.keys(row)}) VALUES (${Object.keys(row).map(() => "?")})`)
        .run(...Object.values(row));
  return copy;
}
