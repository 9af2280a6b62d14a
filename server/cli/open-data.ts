import { existsSync } from "node:fs";
import { join } from "node:path";
import { migrations } from "../../migrations/index.ts";
import { createPriceStore } from "../connections/prices.ts";
import { createConnectionStore } from "../connections/store.ts";
import { createAccounts } from "../console/accounts.ts";
import { createLoginThrottle } from "../console/login-throttle.ts";
import { createPasswords } from "../console/password.ts";
import { removeFactors } from "../console/second-factor.ts";
import { createSetup } from "../console/setup.ts";
import { type Actor, createAudit } from "../db/audit.ts";
import { clusterMark } from "../db/cluster-mark.ts";
import { type DataDir, openDataDir } from "../db/data-dir.ts";
import { type Db, openDatabase } from "../db/open.ts";
import { DatabaseTooNew, databaseVersion } from "../db/version.ts";
import { createKeyStore } from "../keys/store.ts";
import { createSeal } from "../lib/seal.ts";
import { createProjectStore } from "../projects/store.ts";
import { CliError } from "./exit-code.ts";
import { masterKeyOf } from "./master-key.ts";

export type Stores = ReturnType<typeof storesOf>;

/** What is kept there; each is opened when it is asked for, since to open some makes what they need. */
export function storesOf(db: Db, dir: DataDir) {
  const audit = createAudit({ db });
  const accounts = () => createAccounts({ db, audit, passwords: createPasswords(), throttle: createLoginThrottle() });
  return {
    db,
    dir,
    accounts,
    removeFactors: (email: string, by: Actor) => removeFactors({ db, audit }, email, by),
    setup: () => createSetup({ db, audit, accounts: accounts() }),
    keys: () => createKeyStore({ db, audit }),
    projects: () => createProjectStore({ db, audit }),
    prices: () => createPriceStore({ db, audit, now: Date.now }),
    connections() {
      const seal = createSeal(masterKeyOf(dir, db));
      return createConnectionStore({ db, audit, seal, environment: process.env, now: Date.now });
    },
  };
}

/**
 * Runs a command on the database of a data directory, also while a server runs on it. Only a database that must first
 * be made or brought forward needs the directory for itself: not under the feet of a server of another version.
 */
export async function withData<T>(
  path: string,
  { create }: { create: boolean },
  work: (stores: Stores) => T | Promise<T>,
) {
  const looked = openDataDir(path, { lock: false, create });
  if (existsSync(join(looked.path, clusterMark)))
    throw new CliError(
      `${looked.path} belongs to a node of a cluster, whose database is changed by its leader alone. --cluster and RUNNEL_MASTER_KEY send the command there.`,
    );
  const dir = isCurrent(looked) ? looked : openDataDir(path, { lock: true, create });
  try {
    const db = openDatabase(dir.database, { vecLibrary: dir.vecLibrary() });
    try {
      return await work(storesOf(db, dir));
    } finally {
      db.close();
    }
  } finally {
    dir.release();
  }
}

function isCurrent({ database }: DataDir): boolean {
  if (!existsSync(database)) return false;
  const version = databaseVersion(database);
  if (version > migrations.length) throw new DatabaseTooNew(version);
  return version === migrations.length;
}
