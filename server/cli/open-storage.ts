import { statfsSync, statSync } from "node:fs";
import { type Alarm, alarmed, createAlarm } from "../db/alarm.ts";
import { type Ballast, createBallast } from "../db/ballast.ts";
import { faultsOf } from "../db/check.ts";
import { keepLogShort } from "../db/checkpoint.ts";
import { DatabaseUnusable } from "../db/damage.ts";
import { type DataDir, openDataDir } from "../db/data-dir.ts";
import { masterKeyId, noteMasterKeyId, readMasterKeyId } from "../db/key-fact.ts";
import { openApart } from "../db/migrate-apart.ts";
import { networkDisk } from "../db/network-disk.ts";
import { type Db, openDatabase, type Ship } from "../db/open.ts";
import { createSpace, type Reserve } from "../db/space.ts";
import type { Log } from "../lib/log.ts";
import { ownCommand } from "../lib/own-command.ts";
import { checkSlowly } from "./check-slowly.ts";
import { CliError, usageError } from "./exit-code.ts";
import { masterKeyOf } from "./master-key.ts";
import { outsideCluster } from "./outside-cluster.ts";

export interface StorageFlags {
  dataDir: string;
  allowNetworkFilesystem?: boolean;
}

/** The data directory while a server holds it, and what watches over it. */
export interface Storage {
  dir: DataDir;
  db: Db;
  masterKey: Uint8Array;
  /** Hears of damage from whoever meets it. */
  log: Log;
  /** Throws `storage_full` when there is no room for new work. */
  requireRoom(fresh?: boolean): void;
  /** False once the database was found damaged. */
  isWhole(): boolean;
  close(): void;
}

/** Takes the data directory for this process and opens its database, checked if the last one did not end in order. */
export async function openStorage(
  { dataDir, allowNetworkFilesystem, reserve }: StorageFlags & { reserve?: Reserve },
  log: Log,
  /** Waits until the database is the one that is to be served; it says where its durable copy is. */
  lead?: (dir: DataDir) => Promise<Ship>,
): Promise<Storage> {
  const dir = openDataDir(dataDir, { lock: true });
  refuseNetworkDisk(dir.path, allowNetworkFilesystem);
  const ballast = createBallast(dir.path);
  relieveAtStart(dir.path, ballast);
  const ship = await lead?.(dir);
  const options = { vecLibrary: dir.vecLibrary(), relieve: ballast.release, ship };
  const db = ship ? await openApart(dir.database, options) : openDatabase(dir.database, options);
  const alarm = createAlarm(dir.database, log);
  const masterKey = masterKeyOf(dir, db);
  const watching = [
    checkAfterCrash({ db, dir, log, alarm }),
    checkSlowly({ dir, log, alarm }),
    ...(ship ? [] : [keepLogShort(db, dir.database, { room_bytes: ballast.size_bytes })]), // Whoever ships it does.
  ];
  await matchMasterKey(db, masterKey, log);
  const space = createSpace({ folder: dir.path, sqlite: db.sqlite, ballast, reserve, log });
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

/** Throws for a folder whose disk SQLite cannot lock files on. */
export function refuseNetworkDisk(path: string, allowed = false): void {
  const network = networkDisk(path);
  if (network && !allowed)
    throw new CliError(
      `${path} lies on a network disk (${network}), where locks do not hold and a database gets damaged. Use a disk of this machine, or --allow-network-filesystem.`,
    );
}

const nothing_bytes = 1024 * 1024;

/** Even to open a database takes some room, and so does what a start writes beside it. */
function relieveAtStart(path: string, ballast: Ballast): void {
  const { bavail, bsize } = statfsSync(path);
  if (bavail * bsize < nothing_bytes) ballast.release();
}

async function matchMasterKey({ sqlite, write }: Db, key: Uint8Array, log: Log): Promise<void> {
  const noted = readMasterKeyId(sqlite);
  if (noted === null)
    await write(() => noteMasterKeyId(sqlite, key)).catch(() => {}); // On a full disk the next start.
  else if (noted !== masterKeyId(key))
    log.error("the secrets in this database were encrypted under another master key and cannot be read", {
      needed: noted,
      found: masterKeyId(key),
    });
}

// Read in some 60 ms. A larger one would keep its runs waiting, and is looked through while they go on.
const atOnce_bytes = 64 * 1024 * 1024;

/**
 * Looks through the database after a process that did not end in order. Throws `DatabaseUnusable` before anything is
 * built upon a small one that is damaged; answers the process that looks through a large one, and sounds the alarm.
 */
function checkAfterCrash(given: { db: Db; dir: DataDir; log: Log; alarm: Alarm }): { stop(): void } {
  const { db, dir } = given;
  if (endedInOrder(db)) return nothing;
  if (statSync(dir.database).size > atOnce_bytes) return checkApart(given);
  const faults = faultsOf(db.sqlite, "quick");
  if (faults.length > 0) throw new DatabaseUnusable(dir.database, `is damaged: ${faults.join("; ")}`);
  return nothing;
}

const nothing = { stop() {} };

const endedInOrder = ({ sqlite }: Db): boolean =>
  sqlite.query("SELECT 1 FROM facts WHERE name = 'clean_stop'").get() !== null;

interface Examined {
  findings: { check: string; result: string; detail: string }[];
}

/** By a command that checks this machine only: in a cluster a doctor would ask the leader, which is this process. */
export function checkApart(
  { dir, log, alarm }: { dir: Pick<DataDir, "path" | "database">; log: Log; alarm: Pick<Alarm, "sound"> },
  command = ownCommand("doctor", "--machine", "--data-dir", dir.path, "--json"),
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

/** Reads `--min-free-space`: bytes with a unit, or a share of the disk. */
export function readReserve(text: string): Reserve {
  const [, digits, unit] = /^(\d{1,15}(?:\.\d+)?) ?([KMGT]B|%)?$/i.exec(text.trim()) ?? [];
  if (digits === undefined) throw usageError(`--min-free-space takes 512MB, 2GB or 5%, not "${text}".`);
  if (unit === "%") return (disk_bytes) => (disk_bytes * Number(digits)) / 100;
  const bytes = Number(digits) * units[(unit ?? "").toUpperCase()]!;
  return () => bytes;
}
