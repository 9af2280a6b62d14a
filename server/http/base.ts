import { dirname } from "node:path";
import { createEgress, type EgressPolicy } from "../lib/egress.ts";
import { createKeyedAbortSignals } from "../lib/keyed-abort-signals.ts";
import type { Log } from "../lib/log.ts";
import type { Seal } from "../lib/seal.ts";
import { createAudit } from "../storage/db/audit.ts";
import type { Db } from "../storage/db/open.ts";
import type { HttpOptions } from "./create-http.ts";
import type { Base } from "./module.ts";

export interface BaseOptions {
  db: Db;
  seal: Seal;
  log: Log;
  environment: Base["environment"];
  database?: string;
  sandbox?: Base["sandbox"];
  publicUrl?: Base["publicUrl"];
  publicEgress?: Base["publicEgress"];
  storage?: HttpOptions["storage"];
  /** Rules for the addresses that users configure; `loopback` applies to test environments only. */
  egress: EgressPolicy;
  now?: () => number;
}

/** Creates the dependencies shared by all modules, and the signals that end them. */
export function createBase({
  db,
  seal,
  log,
  environment,
  database,
  sandbox = { level: async () => "off", known: () => "off", python: null },
  publicUrl = () => "http://127.0.0.1",
  publicEgress,
  storage,
  egress: policy,
  now = Date.now,
}: BaseOptions) {
  const closing = new AbortController();
  const ending = createKeyedAbortSignals(closing.signal);
  const policyOf: Base["policyOf"] = (of) => ({ ...policy, loopback: policy.loopback && of === "test" });
  const egressOf = { test: createEgress(policyOf("test")), live: createEgress(policyOf("live")) };
  const base: Base = {
    db,
    seal,
    log,
    audit: createAudit({ db, now }),
    environment,
    database,
    dataDir: database === undefined ? null : dirname(database),
    sandbox,
    policyOf,
    egress: (environment) => egressOf[environment],
    publicEgress: publicEgress ?? createEgress({ ...policy, allow: [], loopback: false }),
    requireRoom: (fresh) => storage?.requireRoom(fresh),
    publicUrl,
    closing: closing.signal,
    abortSignalOf: ending.signal,
    now,
  };
  return { base, ending, close: () => closing.abort() };
}
