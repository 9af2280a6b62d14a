import { SQLiteError } from "bun:sqlite";
import { accessSync, closeSync, constants, existsSync, openSync, readSync, statSync } from "node:fs";
import { dirname } from "node:path";

/** Thrown for a file that is no usable database. The first sentence says which file and why, the second what to do. */
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

/** Returns the advice for a data directory whose database cannot be used. */
export const restoreHint = (path: string): string =>
  `Nothing was changed. To go on with a backup: runnel restore FILE --force --data-dir ${dirname(path)}`;

/** True if SQLite reports content that it cannot have written itself. */
export function isCorrupt(error: unknown): boolean {
  const code = String((error as { code?: unknown } | null)?.code ?? "");
  return code.startsWith("SQLITE_CORRUPT") || code === "SQLITE_NOTADB" || code === "SQLITE_IOERR_SHORT_READ";
}

/** True if the storage refused a write that it may accept later (a full disk): neither corruption nor a bug. */
export const isStorageRefusal = (error: unknown): boolean => error instanceof SQLiteError && !isCorrupt(error);

/** Returns a corruption error with the path of the file; any other error unchanged. */
export const describeCorruption = (error: unknown, path: string, remedy?: string): unknown =>
  isCorrupt(error) ? new DatabaseUnusable(path, `is damaged (${(error as Error).message})`, remedy) : error;

/** Returns false if there is no such file. Throws `DatabaseUnusable` for one that cannot be an SQLite database. */
export function looksLikeDatabase(path: string, remedy?: string): boolean {
  const status = statSync(path, { throwIfNoEntry: false });
  if (!status) return false;
  if (!status.isFile()) throw new DatabaseUnusable(path, "is not a file", remedy);
  if (!isAllowed(path))
    throw new DatabaseUnusable(path, "cannot be read by this user", "Run this as the owner of the file.");
  // A first start never leaves an empty file: it renames the complete one into place.
  if (status.size === 0) throw new DatabaseUnusable(path, "is empty: what was in it is lost", remedy);
  if (head(path, magic.length).toString("latin1") !== magic)
    throw new DatabaseUnusable(path, "is not a database of SQLite", remedy);
  return true;
}

const magic = "SQLite format 3\0";
const [formats_at, formatWithLog] = [18, 2];

/**
 * True if the database is one that was served: those are in WAL mode. A backup is not, and is never opened for writing.
 */
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
