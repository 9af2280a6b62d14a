import { timestamp } from "../../domain/time.ts";
import { listPage, type Page } from "../../http/page.ts";
import type { Principal } from "../../http/principal.ts";
import type { Condition } from "../../http/row-filter.ts";
import type { Db } from "../../storage/db/open.ts";
import { auditLog } from "../../storage/db/schema.ts";

export type AuditStore = ReturnType<typeof createAuditStore>;

/** Reads the audit log; `db/audit.ts` writes it. */
export const createAuditStore = ({ db }: { db: Db }) => ({
  list: (principal: Principal, page: Page) =>
    listPage(
      db,
      {
        table: auditLog,
        kind: "audit_entry",
        scope: principal,
        page,
        isComplete: true,
        within: visibleTo(principal),
        where: ownOf(principal),
      },
      toEntry,
    ),
});

/** Entries of both environments are visible in either one; server-wide entries only to operators. */
function visibleTo({ operator, project_id, environment }: Principal): Condition {
  const sql = "project_id = ? AND (environment = ? OR environment IS NULL)";
  return { sql: operator ? `(${sql}) OR project_id IS NULL` : sql, values: [project_id, environment] };
}

/** An agent-bound key reads only its own actions, because other entries would name other agents. */
const ownOf = ({ agent_ids, id }: Principal): Condition[] =>
  agent_ids ? [{ sql: "actor_type = 'api_key' AND actor_id = ?", values: [id] }] : [];

const toEntry = (row: typeof auditLog.$inferSelect) => ({
  id: row.id,
  object: "audit_entry" as const,
  action: row.action,
  actor: { type: row.actor_type, id: row.actor_id, ip: row.ip },
  target: row.target_type === null ? null : { type: row.target_type, id: row.target_id },
  details: row.details,
  request_id: row.request_id,
  metadata: {},
  created_at: timestamp(row.created_at_ms),
  project_id: row.project_id,
  environment: row.environment,
});
