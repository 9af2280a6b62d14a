import { Database } from "bun:sqlite";
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { type BunSQLiteDatabase, drizzle } from "drizzle-orm/bun-sqlite";
import { newDatabase } from "../lib/assets.ts";
import { failpoint } from "../lib/failpoint.ts";
import { truncateLog } from "./checkpoint.ts";
import { DatabaseUnusable, looksLikeDatabase, nameDamage } from "./damage.ts";
import { syncFile, syncFolder } from "./durable-file.ts";
import { createKeeper, type Keeper } from "./kept.ts";
import { prepareLate } from "./late-statements.ts";
import { migrate } from "./migrate.ts";
import * as schema from "./schema.ts";
import { requireOwn } from "./version.ts";
import { createWriter, type Writer } from "./writer.ts";

/**
 * The one connection that writes, on the main thread. Reads share it: a transaction begins and ends within one tick,
 * so whoever reads between ticks sees committed data only. The handle goes into stores and nowhere else.
 */
export interface Db {
  readonly sqlite: Database;
  readonly orm: BunSQLiteDatabase<typeof schema>;
  readonly write: Writer;
  /** Lets all reads of this tick share one. */
  readonly snapshot: Snapshot;
  /** Rows in memory that are read again and again. */
  readonly kept: Keeper;
  close(): void;
}

const pragmas = [
  "journal_mode = WAL",
  "synchronous = FULL",
  "foreign_keys = ON",
  "trusted_schema = OFF",
  "cell_size_check = ON",
  "journal_size_limit = 67108864",
  "temp_store = MEMORY",
];

export interface OpenDatabase {
  vecLibrary?: string | null;
  /** Makes room on a full disk for what must still be written; false when there is none to give. */
  relieve?: () => boolean;
  /** Where the durable copy is, if not in this file. */
  ship?: Ship;
}

/** Takes what the database commits to where its durable copy is. */
export interface Ship {
  /** Is given the connection that writes before that has written anything. */
  attach(sqlite: Database): void;
  /** Called after each commit, in the same tick. */
  committed(): Promise<void>;
}

/**
 * Opens the database at `path` (`:memory:` for tests), makes it where there is none, and brings it forward. Throws
 * `DatabaseTooNew` for a newer one, and `DatabaseUnusable` for a file that is none or is damaged; it stays as it is.
 */
export function openDatabase(path: string, options: OpenDatabase = {}): Db {
  if (path !== ":memory:" && !looksLikeDatabase(path)) createDatabase(path);
  const sqlite =
    path === ":memory:"
      ? Database.deserialize(newest(), { strict: true })
      : new Database(path, { create: true, strict: true });
  try {
    return prepare(sqlite, path, options);
  } catch (error) {
    sqlite.close();
    throw nameDamage(error, path);
  }
}

function prepare(sqlite: Database, path: string, { vecLibrary, relieve, ship }: OpenDatabase): Db {
  sqlite.run("PRAGMA busy_timeout = 5000"); // First: the switch to WAL itself may have to wait.
  if (path !== ":memory:") requireOwn(sqlite, path);
  for (const pragma of pragmas) sqlite.run(`PRAGMA ${pragma}`);
  ship?.attach(sqlite);
  if (vecLibrary) sqlite.loadExtension(vecLibrary);
  migrate(sqlite, path);
  prepareLate(sqlite);
  const version = sqlite.query<{ data_version: number }, []>("PRAGMA data_version");
  // Changes whenever another process commits: the command line may edit keys while the server runs.
  const dataVersion = (): number => version.get()!.data_version;
  const snapshot = createSnapshot(sqlite, () => kept.look());
  const kept = createKeeper({ dataVersion, beginRead: snapshot.begin });
  const write = createWriter(sqlite, { relieve, endRead: snapshot.end, kept, committed: ship?.committed });
  return {
    sqlite,
    orm: drizzle(sqlite, { schema }),
    write,
    snapshot,
    kept,
    close() {
      write.flush();
      snapshot.end();
      failpoint?.("before_checkpoint");
      truncateLog(sqlite);
      failpoint?.("after_checkpoint");
      sqlite.close(false);
    },
  };
}

let image: Buffer | undefined;

/** The newest database, empty: made once in a process, since its migrations take longer than most tests. */
function newest(): Buffer {
  if (image) return image;
  const sqlite = new Database(":memory:", { strict: true });
  try {
    sqlite.run("PRAGMA foreign_keys = ON");
    migrate(sqlite, ":memory:");
    image = sqlite.serialize();
    return image;
  } finally {
    sqlite.close();
  }
}

/** Makes a database where there is none: whole or not at all, so that an empty file always means a loss. */
function createDatabase(path: string): void {
  // What is left of a database that somebody lost: a new one in its place would hide that, and end its log.
  if (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size)
    throw new DatabaseUnusable(path, `is missing, but its log ${path}-wal is there`);
  for (const stale of [`${path}-wal`, `${path}-shm`]) rmSync(stale, { force: true });
  const partial = `${path}.partial`;
  rmSync(partial, { force: true });
  const made = newDatabase();
  if (made === null) makeDatabase(partial);
  else writeFileSync(partial, readFileSync(made));
  failpoint?.("mid_creation");
  syncFile(partial);
  renameSync(partial, path);
  failpoint?.("after_creation");
  syncFolder(dirname(path));
}

/** Makes a new database at `path`, where nothing is. */
export function makeDatabase(path: string): void {
  const sqlite = new Database(path, { create: true, strict: true });
  try {
    for (const pragma of ["journal_mode = MEMORY", "synchronous = OFF", "foreign_keys = ON"])
      sqlite.run(`PRAGMA ${pragma}`);
    migrate(sqlite, ":memory:"); // There is nothing yet that an upgrade could spoil.
    sqlite.run("PRAGMA journal_mode = WAL"); // Which the file remembers: to learn it later takes three syncs.
  } finally {
    sqlite.close();
  }
}

/**
 * One read transaction for everything that is read in one tick: a statement alone pays for the locks of a transaction of
 * its own, which cost more than the reading. It ends with the tick, and must have ended before a write begins.
 */
interface Snapshot {
  begin(): void;
  /**
   * For a request that has just arrived: ends a transaction that may have begun before it was sent, so that nobody reads
   * what was true before they asked. Requests that arrive in one turn share one.
   */
  renew(): void;
  end(): void;
}

function createSnapshot(sqlite: Database, begun: () => void): Snapshot {
  const [beginRead, endRead] = ["BEGIN", "COMMIT"].map((sql) => sqlite.query(sql));
  let open = false;
  let renewed = false;

  function begin(): void {
    if (open || sqlite.inTransaction) return;
    beginRead!.run();
    open = true;
    setImmediate(end);
    begun();
  }

  function renew(): void {
    if (renewed) return;
    end();
    begin();
    renewed = open;
  }

  function end(): void {
    if (!open) return;
    open = false;
    renewed = false;
    // An error of the storage has ended it already.
    if (sqlite.inTransaction) endRead!.run();
  }

  return { begin, renew, end };
}
