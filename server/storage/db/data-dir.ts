import { Database } from "bun:sqlite";
import { accessSync, constants, existsSync, mkdirSync, readdirSync, rmdirSync, rmSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { vecLibrary } from "../../lib/assets.ts";
import { isProcessAlive } from "../../lib/is-process-alive.ts";
import { loadMasterKey } from "../../lib/master-key.ts";
import { platform } from "../../lib/platform.ts";
import { chownLikeParent } from "./chown-like-parent.ts";
import { forgetUndecided, isRestoring, recoverRestore } from "./restore-recovery.ts";
import { readServerFile } from "./server-file.ts";

const serverFileName = "server.json";

/** Thrown if another process serves this folder: a journal has one writer. */
export class DataDirInUse extends Error {
  constructor(readonly path: string) {
    const server = readServerFile(join(path, serverFileName));
    const place = server && isProcessAlive(server.pid) ? ` at ${server.address} (process ${server.pid})` : "";
    super(`The data directory ${path} is in use by another runnel${place}. Stop that one, or give another --data-dir.`);
    this.name = "DataDirInUse";
  }
}

/** Thrown if the folder is missing, not accessible, or readable by other users. */
export class DataDirRefused extends Error {
  override readonly name = "DataDirRefused";
}

/** The folder that holds all data of a server. */
export interface DataDir {
  readonly path: string;
  readonly database: string;
  readonly tls: string;
  /** File in which the running server describes itself to the command line on the same machine. */
  readonly serverFile: string;
  /** File with the secret of the key that `runnel dev` uses. */
  readonly developerKey: string;
  /** Path for `loadExtension`. */
  vecLibrary(): string;
  masterKey(environment: Record<string, string | undefined>): Uint8Array;
  /**
   * Releases the lock, as the end of the process does. Deletes a folder that was created for this process and is still
   * empty.
   */
  release(): void;
}

interface OpenDataDir {
  /** Locks the folder until `release`. */
  lock: boolean;
  /** Creates the folder if it is missing. */
  create?: boolean;
}

/**
 * Opens the folder with access for its owner only, and completes an interrupted restore. Throws `DataDirInUse`,
 * `DataDirRefused`.
 */
export function openDataDir(folder: string, { lock, create = true }: OpenDataDir): DataDir {
  const path = resolve(folder);
  if (create) checkDataDir(path);
  process.umask(0o077); // Also applies to the files that SQLite creates.
  const isNew = create && mkdirSync(path, { recursive: true, mode: 0o700 }) !== undefined;
  checkFolder(path);
  const database = join(path, "runnel.db");
  const folderLock = lock ? takeLock(path) : null;
  if (isRestoring(database)) finishAlone(path, database, folderLock);
  if (folderLock) forgetUndecided(database);
  return {
    path,
    database,
    tls: join(path, "tls"),
    serverFile: join(path, serverFileName),
    developerKey: join(path, "developer.key"),
    vecLibrary: () => vecLibrary(join(path, "lib")),
    masterKey: (environment) => loadMasterKey(path, environment),
    release() {
      // Before the lock is released, so that no other process has taken the lock or found the folder.
      if (folderLock && isNew && platform.deletesOpenFiles) removeUnused(path);
      folderLock?.close(true);
    },
  };
}

/** Completes a restore under the lock: no process may open a database being replaced, or the old one after a crash. */
function finishAlone(path: string, database: string, held: Database | null): void {
  const lock = held ?? takeLock(path);
  try {
    recoverRestore(database);
  } finally {
    if (!held) lock.close(true);
  }
}

/** Throws `DataDirRefused` if a start could neither use nor create the folder. Changes nothing. */
export function checkDataDir(given: string): void {
  const path = resolve(given);
  if (existsSync(path)) checkFolder(path);
  else checkParent(path);
}

/** Throws `DataDirRefused` if the missing folder cannot be created in its nearest existing parent. */
function checkParent(path: string): void {
  let parent = dirname(path);
  while (!existsSync(parent)) parent = dirname(parent);
  if (!statSync(parent).isDirectory())
    throw new DataDirRefused(`${path} cannot be made: ${parent} is not a directory.`);
  const { W_OK, X_OK } = constants;
  requireAccess(parent, W_OK | X_OK, (uid) => `This user may not make ${path}: ${parent} belongs to the user ${uid}.`);
}

function checkFolder(path: string): void {
  if (!existsSync(path))
    throw new DataDirRefused(
      `There is no data directory ${path}. "runnel dev" and "runnel serve" make one; --data-dir names another.`,
    );
  const status = statSync(path);
  if (!status.isDirectory()) throw new DataDirRefused(`${path} is not a directory.`);
  requireAccess(
    path,
    constants.R_OK | constants.W_OK | constants.X_OK,
    (uid) =>
      `This user may not use ${path}, which belongs to the user ${uid}. Run the command as that one, or as root.`,
  );
  const mode = status.mode & 0o777;
  if (platform.modes && (mode & 0o077) !== 0)
    throw new DataDirRefused(
      `Others on this machine can look into ${path} (mode ${mode.toString(8)}), and it will hold secrets. Run: chmod 700 ${path}`,
    );
}

function requireAccess(path: string, mode: number, refusal: (uid: number) => string): void {
  try {
    accessSync(path, mode);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "EACCES") throw cause;
    throw new DataDirRefused(refusal(statSync(path).uid), { cause });
  }
}

const lockName = "lock.db";

/** Deletes the folder if it contains only the lock file and its journal. */
function removeUnused(path: string): void {
  const names = existsSync(path) ? readdirSync(path) : [];
  if (names.length === 0 || !names.every((name) => name.startsWith(lockName))) return;
  for (const name of names) rmSync(join(path, name));
  rmdirSync(path);
}

/** Takes the lock, which the OS releases with the process: a crash leaves no stale lock file. */
function takeLock(path: string): Database {
  const file = join(path, lockName);
  const lock = new Database(file, { create: true });
  chownLikeParent(file);
  try {
    lock.run("PRAGMA busy_timeout = 0");
    lock.run("BEGIN EXCLUSIVE");
    return lock;
  } catch (error) {
    lock.close();
    if ((error as { code?: string }).code === "SQLITE_BUSY") throw new DataDirInUse(path);
    throw error;
  }
}
