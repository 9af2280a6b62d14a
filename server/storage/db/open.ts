import { Database } from "bun:sqlite";
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { type BunSQLiteDatabase, drizzle } from "drizzle-orm/bun-sqlite";
import { newDatabase } from "../../lib/assets.ts";
import { failpoint } from "../../lib/failpoint.ts";
import { checkpointTruncate } from "./checkpoint.ts";
import { DatabaseUnusable, describeCorruption, looksLikeDatabase } from "./corruption.ts";
import { syncFile, syncFolder } from "./durable-file.ts";
import { prepareLazily } from "./lazy-statements.ts";
import { migrate } from "./migrate.ts";
import { createRowCache, type RowCache } from "./row-cache.ts";
import * as schema from "./schema.ts";
import { requireOwn } from "./version.ts";
import { createWriter, type Writer } from "./writer.ts";

/**
 * The only connection that writes, on the main thread. Reads share it: a transaction begins and ends within one tick,
 * so other code reads only committed data. Only stores get this handle.
 */
export interface Db {
  readonly sqlite: Database;
  readonly orm: BunSQLiteDatabase<typeof schema>;
  readonly write: Writer;
  /** Shares one read transaction among all reads of a tick. */
  readonly snapshot: Snapshot;
  /** Cache of rows that are read often. */
  readonly kept: RowCache;
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
  /** Frees room on a full disk for writes that must succeed; returns false if there is none. */
  relieve?: () => boolean;
  /** Ships commits, if the durable copy is not this file. */
  ship?: Ship;
}

/** Ships commits to the durable copy. */
export interface Ship {
  /** Called with the writing connection before its first write. */
  attach(sqlite: Database): void;
  /** Called after each commit, in the same tick. */
  committed(): Promise<void>;
}

/**
 * Opens the database at `path` (`:memory:` for tests), creates it if it is missing, and migrates it. Throws
 * `DatabaseTooNew` for a newer one, and `DatabaseUnusable` for a file that is corrupt or no database; that file is not
 * changed.
 */
export function openDatabase(path: string, options: OpenDatabase = {}): Db {
  if (path !== ":memory:" && !looksLikeDatabase(path)) createDatabase(path);
  const sqlite =
    path === ":memory:"
      ? Database.deserialize(emptyDatabase(), { strict: true })
      : new Database(path, { create: true, strict: true });
  try {
    return prepare(sqlite, path, options);
  } catch (error) {
    sqlite.close();
    throw describeCorruption(error, path);
  }
}

function prepare(sqlite: Database, path: string, { vecLibrary, relieve, ship }: OpenDatabase): Db {
  sqlite.run("PRAGMA busy_timeout = 5000"); // First, because the switch to WAL itself may have to wait.
  if (path !== ":memory:") requireOwn(sqlite, path);
  for (const pragma of pragmas) sqlite.run(`PRAGMA ${pragma}`);
  ship?.attach(sqlite);
  if (vecLibrary) sqlite.loadExtension(vecLibrary);
  migrate(sqlite, path);
  prepareLazily(sqlite);
  const version = sqlite.query<{ data_version: number }, []>("PRAGMA data_version");
  // Changes when another process commits: the command line may edit keys while the server runs.
  const dataVersion = (): number => version.get()?.data_version ?? 0;
  const snapshot = createSnapshot(sqlite, () => kept.look());
  const kept = createRowCache({ dataVersion, beginRead: snapshot.begin });
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
      checkpointTruncate(sqlite);
      failpoint?.("after_checkpoint");
      sqlite.close(false);
    },
  };
}

let image: Buffer | undefined;

/** Returns an empty database of the newest version. Cached, because the migrations take longer than most tests. */
function emptyDatabase(): Buffer {
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

/** Creates a database atomically, so that an empty file always means a loss. */
function createDatabase(path: string): void {
  // A WAL without its database: refuse, because a new database would hide the loss and destroy the WAL.
  if (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size)
    throw new DatabaseUnusable(path, `is missing, but its log ${path}-wal is there`);
  for (const stale of [`${path}-wal`, `${path}-shm`]) rmSync(stale, { force: true });
  const partial = `${path}.partial`;
  rmSync(partial, { force: true });
  const template = newDatabase();
  if (template === null) makeDatabase(partial);
  else writeFileSync(partial, readFileSync(template));
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
    migrate(sqlite, ":memory:"); // `:memory:`: a new database needs no copy before its migrations.
    sqlite.run("PRAGMA journal_mode = WAL"); // Stored in the file: switching to WAL later takes three syncs.
  } finally {
    sqlite.close();
  }
}

/**
 * One read transaction for all reads of a tick, because the locks of a transaction per statement cost more than the
 * reads. It ends with the tick, and always before a write begins.
 */
interface Snapshot {
  begin(): void;
  /**
   * Starts a new transaction for a request that has just arrived, so that it does not read data from before it was
   * sent. Requests that arrive in the same turn share one.
   */
  renew(): void;
  end(): void;
}

function createSnapshot(sqlite: Database, onBegin: () => void): Snapshot {
  const beginRead = sqlite.query("BEGIN");
  const endRead = sqlite.query("COMMIT");
  let open = false;
  let renewed = false;

  function begin(): void {
    if (open || sqlite.inTransaction) return;
    beginRead.run();
    open = true;
    setImmediate(end);
    onBegin();
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
    // A storage error has ended it already.
    if (sqlite.inTransaction) endRead.run();
  }

  return { begin, renew, end };
}
