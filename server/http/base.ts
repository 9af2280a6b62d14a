import { dirname } from "node:path";
import { createAudit } from "../db/audit.ts";
import { createEgress, type EgressPolicy } from "../lib/egress.ts";
import { createNamedSignals } from "../lib/named-signals.ts";
import type { HttpOptions } from "./compose.ts";
import type { Base } from "./part.ts";

export type BaseOptions = Pick<Base, "db" | "seal" | "log" | "environment" | "database"> &
  Partial<Pick<Base, "sandbox" | "publicUrl" | "publicEgress" | "now">> &
  Pick<HttpOptions, "storage"> & {
    /** What users' addresses may reach; `loopback` counts in test environments only. */
    egress: EgressPolicy;
  };

/** What every folder is composed of, beside what was given; and what ends it. */
export function createBase<Options extends BaseOptions>(options: Options) {
  const { db, database, egress: policy, storage, sandbox, publicUrl, publicEgress, now = Date.now } = options;
  const closing = new AbortController();
  const ending = createNamedSignals(closing.signal);
  const policyOf: Base["policyOf"] = (of) => ({ ...policy, loopback: policy.loopback && of === "test" });
  const guards = { test: createEgress(policyOf("test")), live: createEgress(policyOf("live")) };
  const base: Omit<Options, keyof Base> & Base = {
    ...options,
    policyOf,
    now,
    closing: closing.signal,
    ending: ending.signal,
    audit: createAudit({ db, now }),
    egress: (environment) => guards[environment],
    publicEgress: publicEgress ?? createEgress({ ...policy, allow: [], loopback: false }),
    dataDir: database === undefined ? null : dirname(database),
    sandbox: sandbox ?? { level: async () => "off", known: () => "off" },
    publicUrl: publicUrl ?? (() => "http://127.0.0.1"),
    requireRoom: (fresh) => storage?.requireRoom(fresh),
  };
  return { base, ending, close: () => closing.abort() };
}
