import type { Database } from "bun:sqlite";
import { migrations } from "../../migrations/index.ts";
import { failpoint } from "../lib/failpoint.ts";
import { copyDatabase } from "./copy.ts";
import { DatabaseTooNew, versionOf } from "./version.ts";

/**
 * Brings the database forward, one transaction per migration. A copy of the old one is made first, also when an earlier
 * start has made one: that may be of a database which was replaced since.
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
