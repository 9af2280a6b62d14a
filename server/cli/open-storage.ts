import { statfsSync } from "node:fs";
import { alarmed, createAlarm } from "../db/alarm.ts";
import { type Ballast, createBallast } from "../db/ballast.ts";
import { keepLogShort } from "../db/checkpoint.ts";
import { type DataDir, openDataDir } from "../db/data-dir.ts";
import { masterKeyId, noteMasterKeyId, readMasterKeyId } from "../db/key-fact.ts";
import { networkDisk } from "../db/network-disk.ts";
import { type Db, openDatabase } from "../db/open.ts";
import { createSpace } from "../db/space.ts";
import type { Log } from "../lib/log.ts";
import { checkAfterCrash } from "./check-after-crash.ts";
import { checkSlowly } from "./check-slowly.ts";
import { CliError } from "./exit-code.ts";
import { readReserve } from "./free-space.ts";

export interface StorageFlags {
  dataDir: string;
  minFreeSpace?: string;
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
export async function openStorage(flags: StorageFlags, log: Log): Promise<Storage> {
  const reserve = flags.minFreeSpace === undefined ? undefined : readReserve(flags.minFreeSpace);
  const dir = openDataDir(flags.dataDir, { lock: true });
  refuseNetworkDisk(dir.path, flags.allowNetworkFilesystem);
  const ballast = createBallast(dir.path);
  relieveAtStart(dir.path, ballast);
  const db = openDatabase(dir.database, { vecLibrary: dir.vecLibrary(), relieve: ballast.release });
  const alarm = createAlarm(dir.database, log);
  const masterKey = dir.masterKey(process.env);
  const watching = [
    checkAfterCrash({ db, dir, log, alarm }),
    checkSlowly({ dir, log, alarm }),
    keepLogShort(db, dir.database),
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

function refuseNetworkDisk(path: string, allowed = false): void {
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
