import type { HttpModule } from "../../http/create-http.ts";
import type { Base, Module } from "../../http/module.ts";
import { createRefusals } from "./refusals.ts";
import { auditRoutes } from "./routes.ts";
import { createAuditStore } from "./store.ts";

export interface AuditOptions {
  /** Days that the audit log is kept; null: forever. */
  audit_days?: number | null;
}

const day_ms = 24 * 3_600_000;

interface Needs {
  base: Base;
  options: AuditOptions;
  http: HttpModule;
}

/** The audit log and the recording of refused requests. */
export function createAuditModule({ base, options, http }: Needs) {
  const { db, audit, log, now } = base;
  const { audit_days = 365 } = options;
  const entries = createAuditStore({ db });
  return {
    routes: (auth) => [auditRoutes({ auth, entries })],
    onRefused: createRefusals({ db, audit, routes: http.routes, log, now }),
    deleteExpired: [
      (limit: number) => (audit_days === null ? 0 : audit.forgetOlder(now() - audit_days * day_ms, limit)),
    ],
  } satisfies Module;
}
