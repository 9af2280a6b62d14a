import { Database } from "bun:sqlite";
import { accessSync, constants, existsSync, mkdirSync, readdirSync, rmdirSync, rmSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { vecLibrary } from "../lib/assets.ts";
import { loadMasterKey } from "../lib/master-key.ts";
import { platform } from "../lib/platform.ts";
import { finishRestore, forgetUndecided, isRestoring } from "./finish-restore.ts";
import { giveToFolderOwner } from "./folder-owner.ts";

/** Another process serves from this folder: two writers of one journal would each believe to be the only one. */
export class DataDirInUse extends Error {
  constructor(readonly path: string) {
    super(`The data directory ${path} is in use by another runnel. Stop that one, or give another --data-dir.`);
    this.name = "DataDirInUse";
  }
}

/** The folder is not there, or others could read it. */
export class DataDirRefused extends Error {
  override readonly name = "DataDirRefused";
}

/** Where everything lives that runnel keeps. */
export interface DataDir {
  readonly path: string;
  readonly database: string;
  readonly tls: string;
  /** What the running server says of itself, for the command line on the same machine. */
  readonly serverFile: string;
  /** Path for `loadExtension`. */
  vecLibrary(): string;
  masterKey(environment: Record<string, string | undefined>): Uint8Array;
  /**
   * Lets the next process have the lock; the end of this process does the same. A folder that was made for this process
   * and holds nothing yet is deleted.
   */
  release(): void;
}

interface OpenDataDir {
  /** Keeps every other locking process out until `release`. */
  lock: boolean;
  /** Makes the folder when there is none. */
  create?: boolean;
}

/** Opens the folder, readable for its owner alone, and finishes what a restore has begun. Throws `DataDirInUse` and `DataDirRefused`. */
export function openDataDir(given: string, { lock, create = true }: OpenDataDir): DataDir {
  const path = resolve(given);
  if (create) checkDataDir(path);
  process.umask(0o077); // Also for the files that SQLite makes.
  const isNew = create && mkdirSync(path, { recursive: true, mode: 0o700 }) !== undefined;
  checkFolder(path);
  const database = join(path, "runnel.db");
  const held = lock ? takeLock(path) : null;
  if (isRestoring(database)) finishAlone(path, database, held);
  if (held) forgetUndecided(database);
  return {
    path,
    database,
    tls: join(path, "tls"),
    serverFile: join(path, "server.json"),
    vecLibrary: () => vecLibrary(join(path, "lib")),
    masterKey: (environment) => loadMasterKey(path, environment),
    release() {
      // While the lock is held: nobody can have taken it, nor find the folder afterwards.
      if (held && isNew && platform.deletesOpenFiles) removeUnused(path);
      held?.close(true);
    },
  };
}

/** Nobody may look at a database that is being replaced, nor find the old one after a restore that has died. */
function finishAlone(path: string, database: string, held: Database | null): void {
  const lock = held ?? takeLock(path);
  try {
    finishRestore(database);
  } finally {
    if (!held) lock.close(true);
  }
}

/** Throws `DataDirRefused` where a start could neither use the folder nor make it. Changes nothing. */
export function checkDataDir(given: string): void {
  const path = resolve(given);
  if (existsSync(path)) checkFolder(path);
  else checkPlace(path);
}

/** Whether the missing folder can be made in the one above it that is there. */
function checkPlace(path: string): void {
  let above = dirname(path);
  while (!existsSync(above)) above = dirname(above);
  if (!statSync(above).isDirectory()) throw new DataDirRefused(`${path} cannot be made: ${above} is not a directory.`);
  const { W_OK, X_OK } = constants;
  requireAccess(above, W_OK | X_OK, (uid) => `This user may not make ${path}: ${above} belongs to the user ${uid}.`);
}

function checkFolder(path: string): void {
  if (!existsSync(path))
    throw new DataDirRefused(`There is no data directory ${path}. "runnel serve" makes one; --data-dir names another.`);
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

/** Deletes a folder that has nothing but its lock, and that one's journal. */
function removeUnused(path: string): void {
  const names = existsSync(path) ? readdirSync(path) : [];
  if (names.length === 0 || !names.every((name) => name.startsWith(lockName))) return;
  for (const name of names) rmSync(join(path, name));
  rmdirSync(path);
}

/** The operating system frees the lock with the process, however that ends: no stale file to delete after a crash. */
function takeLock(path: string): Database {
  const file = join(path, lockName);
  const lock = new Database(file, { create: true });
  giveToFolderOwner(file);
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
