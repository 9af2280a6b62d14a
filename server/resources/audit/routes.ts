import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { AuditEntry } from "../../domain/api-types/audit.ts";
import { listOf } from "../../domain/api-types/schema.ts";
import type { Auth } from "../../http/auth.ts";
import { plainListQuery, readPage } from "../../http/page.ts";
import { SubjectFilter } from "../../http/schemas.ts";
import { about } from "../../lib/schema.ts";
import type { AuditStore } from "./store.ts";

/** `GET /v1/audit_log`: read-only list of changes. */
export const auditRoutes = ({ auth, entries }: { auth: Auth; entries: AuditStore }) =>
  new Elysia({ tags: ["Audit log"] })
    .use(auth)
    .get("/audit_log", ({ principal, request }) => entries.list(principal, readPage(request.url, auditFilters)), {
      operation: {
        id: "audit_log.list",
        summary: "List the entries of the audit log",
        needs: "admin",
        viewers: true,
        query: { ...plainListQuery, ...auditFilters },
        returns: listOf(AuditEntry),
      },
    });

/** Filters by action, actor and target. */
const auditFilters = {
  action: about(
    "Only entries of this action.",
    Type.String({ pattern: "^[a-z_]{1,64}\\.[a-z_]{1,64}$", examples: ["agent.created"] }),
  ),
  actor_id: about("Only entries of this actor.", SubjectFilter),
  target_id: about("Only entries about this thing.", SubjectFilter),
  request_id: about("Only entries of this request.", SubjectFilter),
};
