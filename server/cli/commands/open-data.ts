import { existsSync } from "node:fs";
import { join } from "node:path";
import { migrations } from "../../../migrations/index.ts";
import { createAccounts } from "../../dashboard-api/accounts.ts";
import { createLoginThrottle } from "../../dashboard-api/login-throttle.ts";
import { createPasswords } from "../../dashboard-api/password.ts";
import { removeFactors } from "../../dashboard-api/second-factor.ts";
import { createSetup } from "../../dashboard-api/setup.ts";
import { createEgress } from "../../lib/egress.ts";
import { silentLog } from "../../lib/log.ts";
import { createSeal } from "../../lib/seal.ts";
import { createKeyStore } from "../../resources/keys/store.ts";
import { createConnections } from "../../resources/model-connections/create-connections.ts";
import { createModelCatalog } from "../../resources/model-connections/model-catalog.ts";
import { createPriceStore } from "../../resources/model-connections/prices.ts";
import { createProjectStore } from "../../resources/projects/store.ts";
import { type Actor, createAudit } from "../../storage/db/audit.ts";
import { type DataDir, openDataDir } from "../../storage/db/data-dir.ts";
import { type Db, openDatabase } from "../../storage/db/open.ts";
import { replicaMarker } from "../../storage/db/replica-marker.ts";
import { DatabaseTooNew, databaseVersion } from "../../storage/db/version.ts";
import { splitList } from "../serve/listen-plan.ts";
import { masterKeyOf } from "../serve/master-key.ts";
import { CliError } from "./exit-code.ts";

export type Stores = ReturnType<typeof storesOf>;

/** Something that may still be at work when a command has its result. */
interface Working {
  stop(): Promise<void>;
}

/**
 * Returns the stores of a data directory, opened lazily because opening some creates what they need. `onOpen` gets what
 * has to be stopped before the database is closed.
 */
export function storesOf(db: Db, dir: DataDir, onOpen: (opened: Working) => void = () => {}) {
  const audit = createAudit({ db });
  /** Connections with what they need to get tokens. */
  const connected = () => {
    const seal = createSeal(masterKeyOf(dir, db));
    // The operator's own machine may have the authorization server too.
    const egress = createEgress({ allow: splitList(process.env.RUNNEL_EGRESS_ALLOW), loopback: true });
    const made = createConnections({
      db,
      audit,
      seal,
      egress,
      environment: process.env,
      log: silentLog,
      now: Date.now,
    });
    onOpen(made.consents);
    return made;
  };
  const connections = () => connected().store;
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
    connections,
    connected,
    /** Models with the lists of their servers, which a command waits for. */
    models() {
      const store = connections();
      const catalog = createModelCatalog({ db, connections: store, wait_ms: 15_000 });
      onOpen(catalog);
      const prices = createPriceStore({ db, audit, now: Date.now, listed: catalog.listed });
      return { connections: store, catalog, prices };
    },
  };
}

/**
 * Runs a command on the database of a data directory, also while a server uses it. Only a database that must be created
 * or migrated first requires the lock, so that no running server of another version is affected.
 */
export async function withData<T>(
  path: string,
  { create }: { create: boolean },
  work: (stores: Stores) => T | Promise<T>,
) {
  const unlocked = openDataDir(path, { lock: false, create });
  if (existsSync(join(unlocked.path, replicaMarker)))
    throw new CliError(
      `${unlocked.path} belongs to a node of a cluster, whose database is changed by its leader alone. --cluster and RUNNEL_MASTER_KEY send the command there.`,
    );
  const dir = isCurrent(unlocked) ? unlocked : openDataDir(path, { lock: true, create });
  try {
    const db = openDatabase(dir.database, { vecLibrary: dir.vecLibrary() });
    const opened: Working[] = [];
    try {
      return await work(storesOf(db, dir, (each) => opened.unshift(each)));
    } finally {
      // The newest first: a list that is being read may still ask for a token, whose refresh has to be stored.
      for (const each of opened) await each.stop();
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
