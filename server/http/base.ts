import { dirname } from "node:path";
import { createEgress, type EgressPolicy } from "../lib/egress.ts";
import { createKeyedAbortSignals } from "../lib/keyed-abort-signals.ts";
import { createAudit } from "../storage/db/audit.ts";
import type { HttpOptions } from "./create-http.ts";
import type { Base } from "./module.ts";

export type BaseOptions = Pick<Base, "db" | "seal" | "log" | "environment" | "database"> &
  Partial<Pick<Base, "sandbox" | "publicUrl" | "publicEgress" | "now">> &
  Pick<HttpOptions, "storage"> & {
    /** Rules for the addresses that users configure; `loopback` applies to test environments only. */
    egress: EgressPolicy;
  };

/** Creates the dependencies shared by all modules, and the signals that end them. */
export function createBase<Options extends BaseOptions>(options: Options) {
  const { db, database, egress: policy, storage, sandbox, publicUrl, publicEgress, now = Date.now } = options;
  const closing = new AbortController();
  const ending = createKeyedAbortSignals(closing.signal);
  const policyOf: Base["policyOf"] = (of) => ({ ...policy, loopback: policy.loopback && of === "test" });
  const egressOf = { test: createEgress(policyOf("test")), live: createEgress(policyOf("live")) };
  const base: Omit<Options, keyof Base> & Base = {
    ...options,
    policyOf,
    now,
    closing: closing.signal,
    abortSignalOf: ending.signal,
    audit: createAudit({ db, now }),
    egress: (environment) => egressOf[environment],
    publicEgress: publicEgress ?? createEgress({ ...policy, allow: [], loopback: false }),
    dataDir: database === undefined ? null : dirname(database),
    sandbox: sandbox ?? { level: async () => "off", known: () => "off" },
    publicUrl: publicUrl ?? (() => "http://127.0.0.1"),
    requireRoom: (fresh) => storage?.requireRoom(fresh),
  };
  return { base, ending, close: () => closing.abort() };
}
