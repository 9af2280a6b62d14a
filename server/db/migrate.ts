import type { Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import { migrations } from "../../migrations/index.ts";

/** The database was written by a newer runnel: opening it could lose what this one does not know. */
export class DatabaseTooNew extends Error {
  constructor(found: number, known: number) {
    super(
      `The database has version ${found}, this executable knows versions up to ${known}. Start the newer runnel, or restore a backup.`,
    );
    this.name = "DatabaseTooNew";
  }
}

/** Brings the database forward, one transaction per migration; a copy of the old one is made first. */
export function migrate(sqlite: Database, path: string): void {
  const found = sqlite.query<{ user_version: number }, []>("PRAGMA user_version").get()!.user_version;
  if (found > migrations.length) throw new DatabaseTooNew(found, migrations.length);
  if (found === migrations.length) return;
  if (found > 0 && path !== ":memory:") backUp(sqlite, `${path}.before-${String(found + 1).padStart(4, "0")}`);
  migrations.slice(found).forEach(({ sql }, index) => {
    sqlite
      .transaction(() => {
        sqlite.run(sql);
        const broken = sqlite.query("PRAGMA foreign_key_check").all();
        if (broken.length > 0) throw new Error(`Migration ${found + index + 1} breaks ${broken.length} references.`);
        sqlite.run(`PRAGMA user_version = ${found + index + 1}`);
      })
      .immediate();
  });
}

function backUp(sqlite: Database, target: string): void {
  if (existsSync(target)) return; // An earlier start made it and was killed during the migration.
  sqlite.run("VACUUM INTO ?", [target]);
}
