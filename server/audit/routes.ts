import { Elysia } from "elysia";
import type { Auth } from "../http/auth.ts";
import { pageParameters, readPage } from "../http/page.ts";
import { auditFilters } from "./schema.ts";
import type { AuditStore } from "./store.ts";

// Entries have no metadata of a client's.
const query = [...pageParameters.filter((name) => name !== "metadata[*]"), ...Object.keys(auditFilters)];

/** `GET /v1/audit_log`: who changed what. Nobody can write to it or delete from it. */
export const auditRoutes = ({ auth, entries }: { auth: Auth; entries: AuditStore }) =>
  new Elysia()
    .use(auth)
    .get("/audit_log", ({ principal, request }) => entries.list(principal, readPage(request.url, auditFilters)), {
      permission: { needs: "admin", query },
    });
