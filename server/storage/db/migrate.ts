import type { Database } from "bun:sqlite";
import { dirname } from "node:path";
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
  const isFile = path !== ":memory:";
  if (found > 0 && isFile) copyDatabase(sqlite, `${path}.before-${String(found + 1).padStart(4, "0")}`);
  if (isFile) sortInFiles(sqlite, dirname(path), () => run(sqlite, found, known));
  else run(sqlite, found, known);
}

/**
 * Makes SQLite sort in unnamed files of the database's folder, because an index of millions of rows that is sorted in memory
 * takes its whole size. The folder is known to be writable; the system's own may be in memory. It is set for the whole
 * process, of which other connections sort in memory.
 */
function sortInFiles(sqlite: Database, folder: string, work: () => void): void {
  try {
    sqlite.run("PRAGMA temp_store = FILE");
    sqlite.run(`PRAGMA temp_store_directory = '${folder.replaceAll("'", "''")}'`);
    work();
  } finally {
    sqlite.run("PRAGMA temp_store = MEMORY");
    sqlite.run("PRAGMA temp_store_directory = ''");
  }
}

function run(sqlite: Database, found: number, known: readonly { sql: string }[]): void {
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
