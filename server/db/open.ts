import { Database } from "bun:sqlite";
import { type BunSQLiteDatabase, drizzle } from "drizzle-orm/bun-sqlite";
import { migrate } from "./migrate.ts";
import * as schema from "./schema.ts";
import { createSnapshot } from "./snapshot.ts";
import { createWriter, type Writer } from "./writer.ts";

/**
 * The one connection that writes, on the main thread. Reads share it: a transaction begins and ends within one tick,
 * so whoever reads between ticks sees committed data only. The handle goes into stores and nowhere else.
 */
export interface Db {
  readonly sqlite: Database;
  readonly orm: BunSQLiteDatabase<typeof schema>;
  readonly write: Writer;
  /**
   * Lets all reads of this tick share one snapshot: a statement alone pays for the locks of a transaction of its own,
   * which cost more than the reading. It ends with the tick, so nobody reads what was true before they asked.
   */
  read(): void;
  /** Changes whenever another process commits: the command line may edit keys while the server runs. */
  dataVersion(): number;
  close(): void;
}

const pragmas = [
  "busy_timeout = 5000", // First: the switch to WAL itself may have to wait.
  "journal_mode = WAL",
  "synchronous = FULL",
  "foreign_keys = ON",
  "trusted_schema = OFF",
  "cell_size_check = ON",
  "journal_size_limit = 67108864",
  "temp_store = MEMORY",
];

/** Opens and migrates the database at `path` (`:memory:` for tests). Throws `DatabaseTooNew` for a newer one. */
export function openDatabase(path: string, options: { vecLibrary?: string | null } = {}): Db {
  const sqlite = new Database(path, { create: true, strict: true });
  for (const pragma of pragmas) sqlite.run(`PRAGMA ${pragma}`);
  if (options.vecLibrary) sqlite.loadExtension(options.vecLibrary);
  migrate(sqlite, path);
  const version = sqlite.query<{ data_version: number }, []>("PRAGMA data_version");
  const snapshot = createSnapshot(sqlite);
  const write = createWriter(sqlite, snapshot.end);
  return {
    sqlite,
    orm: drizzle(sqlite, { schema }),
    write,
    read: snapshot.begin,
    dataVersion: () => version.get()!.data_version,
    close() {
      write.flush();
      snapshot.end();
      sqlite.run("PRAGMA wal_checkpoint(TRUNCATE)");
      sqlite.close(false);
    },
  };
}
