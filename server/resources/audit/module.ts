import type { Base, Module } from "../../http/module.ts";
import { createRefusals } from "./refusals.ts";
import { auditRoutes } from "./routes.ts";
import { createAuditStore } from "./store.ts";

export interface AuditOptions {
  /** Days that the audit log is kept; null: forever. */
  audit_days?: number | null;
}

const day_ms = 24 * 3_600_000;

/** The audit log and the recording of refused requests. */
export function createAuditModule({
  db,
  audit,
  log,
  audit_days = 365,
  routes,
  now,
}: Base & AuditOptions & Pick<Parameters<typeof createRefusals>[0], "routes">) {
  const entries = createAuditStore({ db });
  return {
    routes: (auth) => [auditRoutes({ auth, entries })],
    exports: { onRefused: createRefusals({ db, audit, routes, log, now }) },
    deleteExpired: [
      (limit: number) => (audit_days === null ? 0 : audit.forgetOlder(now() - audit_days * day_ms, limit)),
    ],
  } satisfies Module;
}
