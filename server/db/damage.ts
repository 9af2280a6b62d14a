import { SQLiteError } from "bun:sqlite";
import { accessSync, closeSync, constants, existsSync, openSync, readSync, statSync } from "node:fs";
import { dirname } from "node:path";

/** A file is no database that could be worked with. One sentence says which and why, the next one what to do. */
export class DatabaseUnusable extends Error {
  constructor(
    readonly path: string,
    fault: string,
    remedy = restoreHint(path),
  ) {
    super(`${path} ${fault}. ${remedy}`);
    this.name = "DatabaseUnusable";
  }
}

/** What to do about a data directory's database that cannot be used. */
export const restoreHint = (path: string): string =>
  `Nothing was changed. To go on with a backup: runnel restore FILE --force --data-dir ${dirname(path)}`;

/** Whether SQLite says that what it read cannot have been written by it. */
export function isDamage(error: unknown): boolean {
  const code = String((error as { code?: unknown } | null)?.code ?? "");
  return code.startsWith("SQLITE_CORRUPT") || code === "SQLITE_NOTADB" || code === "SQLITE_IOERR_SHORT_READ";
}

/** Whether the storage refused what it may take later, as a full disk does: neither damage nor a bug. */
export const isStorageRefusal = (error: unknown): boolean => error instanceof SQLiteError && !isDamage(error);

/** The error by which a database was refused, with the file's name if it has none. */
export const nameDamage = (error: unknown, path: string, remedy?: string): unknown =>
  isDamage(error) ? new DatabaseUnusable(path, `is damaged (${(error as Error).message})`, remedy) : error;

/** False when there is no such file. Throws `DatabaseUnusable` for one that cannot be a database of SQLite. */
export function looksLikeDatabase(path: string, remedy?: string): boolean {
  const status = statSync(path, { throwIfNoEntry: false });
  if (!status) return false;
  if (!status.isFile()) throw new DatabaseUnusable(path, "is not a file", remedy);
  if (!isAllowed(path))
    throw new DatabaseUnusable(path, "cannot be read by this user", "Run this as the owner of the file.");
  // Never made so by a first start, which puts the whole file in its place at once.
  if (status.size === 0) throw new DatabaseUnusable(path, "is empty: what was in it is lost", remedy);
  if (head(path, magic.length).toString("latin1") !== magic)
    throw new DatabaseUnusable(path, "is not a database of SQLite", remedy);
  return true;
}

const magic = "SQLite format 3\0";
const [formats_at, formatWithLog] = [18, 2];

/** Whether a database is one that is served: those have a log. A backup is made without, and nobody ever opens it. */
export const hasLog = (path: string): boolean =>
  existsSync(`${path}-wal`) ||
  head(path, formats_at + 2)
    .subarray(formats_at)
    .includes(formatWithLog);

function head(path: string, length: number): Buffer {
  const file = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(length);
    readSync(file, bytes, 0, length, 0);
    return bytes;
  } finally {
    closeSync(file);
  }
}

function isAllowed(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
