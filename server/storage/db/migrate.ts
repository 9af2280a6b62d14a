import type { Database } from "bun:sqlite";
import { migrations } from "../../../migrations/index.ts";
import { failpoint } from "../../lib/failpoint.ts";
import { copyDatabase } from "./copy.ts";
import { DatabaseTooNew, versionOf } from "./version.ts";

/**
 * Migrates the database, one transaction per migration. Copies the old one first, even over an existing copy, which may
 * be of a database that was replaced since.
 */
export function migrate(sqlite: Database, path: string, known: readonly { sql: string }[] = migrations): void {
  const found = versionOf(sqlite);
  if (found > known.length) throw new DatabaseTooNew(found, known.length);
  if (found === known.length) return;
  if (found > 0 && path !== ":memory:") copyDatabase(sqlite, `${path}.before-${String(found + 1).padStart(4, "0")}`);
  known.slice(found).forEach(({ sql }, index) => {
    sqlite
      .transaction(() => {
        sqlite.run(sql);
        failpoint?.("mid_migration");
        const broken = sqlite.query("PRAGMA foreign_key_check").all();
        if (broken.length > 0) throw new Error(`Migration ${found + index + 1} breaks ${broken.length} references.`);
        sqlite.run(`PRAGMA user_version = ${found + index + 1}`);
      })
      .immediate();
    failpoint?.("after_migration");
  });
}
