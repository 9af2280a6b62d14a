import { statfsSync, statSync } from "node:fs";
import type { Log } from "../../lib/log.ts";
import { requireValue } from "../../lib/require-value.ts";
import { selfCommand } from "../../lib/self-command.ts";
import { type Ballast, createBallast } from "../../storage/db/ballast.ts";
import { faultsOf } from "../../storage/db/check.ts";
import { autoCheckpoint } from "../../storage/db/checkpoint.ts";
import { DatabaseUnusable } from "../../storage/db/corruption.ts";
import { alarmed, type CorruptionAlarm, createCorruptionAlarm } from "../../storage/db/corruption-alarm.ts";
import { type DataDir, openDataDir } from "../../storage/db/data-dir.ts";
import { createDiskSpace, type Reserve } from "../../storage/db/disk-space.ts";
import { masterKeyId, readMasterKeyId, setMasterKeyId } from "../../storage/db/master-key-fingerprint.ts";
import { openInWorker } from "../../storage/db/migrate-in-worker.ts";
import { networkDisk } from "../../storage/db/network-disk.ts";
import { type Db, openDatabase, type Ship } from "../../storage/db/open.ts";
import { outsideCluster } from "../cluster/outside-cluster.ts";
import { CliError, usageError } from "../commands/exit-code.ts";
import { startBackgroundScrub } from "./background-scrub.ts";
import { masterKeyOf } from "./master-key.ts";

export interface StorageFlags {
  dataDir: string;
  allowNetworkFilesystem?: boolean;
}

/** The data directory held by a server, with its monitors. */
export interface Storage {
  dir: DataDir;
  db: Db;
  masterKey: Uint8Array;
  /** Log that raises the corruption alarm for logged corruption errors. */
  log: Log;
  /** Throws `storage_full` if there is no room for new work. */
  requireRoom(fresh?: boolean): void;
  /** False once the database was found corrupt. */
  isWhole(): boolean;
  close(): void;
}

/** Locks the data directory and opens its database, which is checked if the last process did not stop cleanly. */
export async function openStorage(
  { dataDir, allowNetworkFilesystem, reserve }: StorageFlags & { reserve?: Reserve },
  log: Log,
  /** Waits until this node leads and has the cell's database; returns where commits are shipped to. */
  lead?: (dir: DataDir) => Promise<Ship>,
): Promise<Storage> {
  const dir = openDataDir(dataDir, { lock: true });
  refuseNetworkDisk(dir.path, allowNetworkFilesystem);
  const ballast = createBallast(dir.path);
  relieveAtStart(dir.path, ballast);
  const ship = await lead?.(dir);
  const options = { vecLibrary: dir.vecLibrary(), relieve: ballast.release, ship };
  const db = ship ? await openInWorker(dir.database, options) : openDatabase(dir.database, options);
  const alarm = createCorruptionAlarm(dir.database, log);
  const masterKey = masterKeyOf(dir, db);
  const watching = [
    checkAfterCrash({ db, dir, log, alarm }),
    startBackgroundScrub({ dir, log, alarm }),
    ...(ship ? [] : [autoCheckpoint(db, dir.database, { room_bytes: ballast.size_bytes })]), // In a cluster the shipper does it.
  ];
  await matchMasterKey(db, masterKey, log);
  const space = createDiskSpace({ folder: dir.path, db, ballast, reserve, log });
  return {
    dir,
    db,
    masterKey,
    log: alarmed(log, alarm),
    requireRoom: space.requireRoom,
    isWhole: alarm.isWhole,
    close() {
      for (const each of [...watching, space]) each.stop();
      db.close();
      dir.release();
    },
  };
}

/** Throws if the folder is on a network disk, where SQLite's locks do not work. */
export function refuseNetworkDisk(path: string, allowed = false): void {
  const network = networkDisk(path);
  if (network && !allowed)
    throw new CliError(
      `${path} lies on a network disk (${network}), where locks do not hold and a database gets damaged. Use a disk of this machine, or --allow-network-filesystem.`,
    );
}

const nothing_bytes = 1024 * 1024;

/** Frees the ballast on a full disk: opening a database and starting need some room. */
function relieveAtStart(path: string, ballast: Ballast): void {
  const { bavail, bsize } = statfsSync(path);
  if (bavail * bsize < nothing_bytes) ballast.release();
}

async function matchMasterKey({ sqlite, write }: Db, key: Uint8Array, log: Log): Promise<void> {
  const storedKeyId = readMasterKeyId(sqlite);
  if (storedKeyId === null)
    await write(() => setMasterKeyId(sqlite, key)).catch(() => {}); // On a full disk the next start retries.
  else if (storedKeyId !== masterKeyId(key))
    log.error("the secrets in this database were encrypted under another master key and cannot be read", {
      needed: storedKeyId,
      found: masterKeyId(key),
    });
}

// Limit for a check before the start (60 ms). A larger database is checked while its runs continue.
const atOnce_bytes = 64 * 1024 * 1024;

/**
 * Checks the database after a process that did not stop cleanly. Throws `DatabaseUnusable` if a small one is corrupt. A
 * large one is checked in a separate process, which raises the alarm.
 */
function checkAfterCrash(context: { db: Db; dir: DataDir; log: Log; alarm: CorruptionAlarm }): { stop(): void } {
  const { db, dir } = context;
  if (endedInOrder(db)) return noCheck;
  if (statSync(dir.database).size > atOnce_bytes) return checkApart(context);
  const faults = faultsOf(db.sqlite, "quick");
  if (faults.length > 0) throw new DatabaseUnusable(dir.database, `is damaged: ${faults.join("; ")}`);
  return noCheck;
}

const noCheck = { stop() {} };

const endedInOrder = ({ sqlite }: Db): boolean =>
  sqlite.query("SELECT 1 FROM facts WHERE name = 'clean_stop'").get() !== null;

interface Examined {
  findings: { check: string; result: string; detail: string }[];
}

/**
 * Checks the database in a separate process. `--machine`: in a cluster the doctor would otherwise ask the leader, which
 * is this process.
 */
export function checkApart(
  { dir, log, alarm }: { dir: Pick<DataDir, "path" | "database">; log: Log; alarm: Pick<CorruptionAlarm, "sound"> },
  command = selfCommand("doctor", "--machine", "--data-dir", dir.path, "--json"),
): { stop(): void } {
  const child = Bun.spawn(command, {
    env: outsideCluster(process.env),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
  });
  child.unref();
  const judge = (examined: unknown): void => {
    const found = (examined as Examined).findings.find(({ check }) => check === "integrity");
    if (found?.result === "ok") log.info("the database is whole", { path: dir.database });
    else alarm.sound(found?.detail ?? "It cannot be read.");
  };
  new Response(child.stdout)
    .json()
    .then(judge)
    .catch((error) => log.warn("the database could not be checked", { error }));
  return { stop: () => child.kill() };
}

const units: Record<string, number> = { "": 1, KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3, TB: 1024 ** 4 };

/** Reads `--min-free-disk`: a size with a unit, or a percentage of the disk. */
export function readReserve(text: string): Reserve {
  const [, digits, unit] = /^(\d{1,15}(?:\.\d+)?) ?([KMGT]B|%)?$/i.exec(text.trim()) ?? [];
  if (digits === undefined) throw usageError(`--min-free-disk takes 512MB, 2GB or 5%, not "${text}".`);
  if (unit === "%") return (disk_bytes) => (disk_bytes * Number(digits)) / 100;
  const bytes = Number(digits) * requireValue(units[(unit ?? "").toUpperCase()], "The unit");
  return () => bytes;
}
