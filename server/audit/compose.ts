import type { Base, Part } from "../http/part.ts";
import { createRefusals } from "./refusals.ts";
import { auditRoutes } from "./routes.ts";
import { createAuditStore } from "./store.ts";

export interface AuditOptions {
  /** How long the audit log is kept; null is for ever. */
  audit_days?: number | null;
}

const day_ms = 24 * 3_600_000;

/** Who changed what: the log, and who was refused. */
export function composeAudit({
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
    ports: { onRefused: createRefusals({ db, audit, routes, log, now }) },
    forget: [(limit: number) => (audit_days === null ? 0 : audit.forgetOlder(now() - audit_days * day_ms, limit))],
  } satisfies Part;
}
