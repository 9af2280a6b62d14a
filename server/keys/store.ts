import { AppError } from "../core/errors.ts";
import { newId } from "../core/ids.ts";
import { type Permission, permissions, type Scope } from "../core/scope.ts";
import { timestamp, timestampOrNull } from "../core/time.ts";
import type { Db } from "../db/open.ts";
import type { Principal } from "../http/auth.ts";
import { notFound } from "../http/not-found.ts";
import { listRows, type Page, toList } from "../http/page.ts";
import type { RateLimits } from "../http/rate-limit.ts";
import { holds, parseAddress, parseCidr } from "../lib/ip-address.ts";
import type { CreateKey } from "./schema.ts";
import { environmentOf, hashSecret, mintSecret } from "./secret.ts";

export interface KeyRow extends Scope {
  id: string;
  name: string;
  prefix: string;
  last4: string;
  scopes: string;
  agent_ids: string | null;
  allowed_cidrs: string | null;
  metadata: string;
  created_by: string;
  created_at_ms: number;
  expires_at_ms: number | null;
  revoked_at_ms: number | null;
  exposed_at_ms: number | null;
  last_used_at_ms: number | null;
  last_used_ip: string | null;
  rotated_to: string | null;
  rotated_from: string | null;
}

type Admission = Pick<
  KeyRow,
  "id" | "project_id" | "environment" | "scopes" | "agent_ids" | "allowed_cidrs" | "expires_at_ms"
> & {
  /** Null when the project is archived. */
  settings: string | null;
};

export type KeyStore = ReturnType<typeof createKeyStore>;

export function createKeyStore({ db, now = Date.now }: { db: Db; now?: () => number }) {
  const { sqlite } = db;
  const used = new Map<string, { at: number; ip: string | null }>();
  const admission = sqlite.query<Admission, [Uint8Array]>(
    // A subquery: the same as a join costs five times as much, and this is asked for every request.
    `SELECT id, project_id, environment, scopes, agent_ids, allowed_cidrs, expires_at_ms,
       (SELECT p.settings FROM projects p WHERE p.id = project_id AND p.archived_at_ms IS NULL) AS settings
     FROM api_keys WHERE hash = ? AND revoked_at_ms IS NULL`,
  );
  const one = sqlite.query<KeyRow, [string, string, string]>(
    "SELECT * FROM api_keys WHERE project_id = ? AND environment = ? AND id = ?",
  );
  const validity = sqlite.query<{ expires_at_ms: number | null }, [string]>(
    `SELECT k.expires_at_ms FROM api_keys k JOIN projects p ON p.id = k.project_id
     WHERE k.id = ? AND k.revoked_at_ms IS NULL AND p.archived_at_ms IS NULL`,
  );
  const otherAdmins = sqlite.query<{ n: number }, [string, string, string, number]>(
    `SELECT count(*) AS n FROM api_keys, json_each(scopes) scope
     WHERE project_id = ? AND environment = ? AND api_keys.id <> ? AND scope.value = 'admin' AND revoked_at_ms IS NULL
       AND (expires_at_ms IS NULL OR expires_at_ms > ?)`,
  );
  const revocation = sqlite.query("UPDATE api_keys SET revoked_at_ms = ? WHERE id = ?");

  const isCurrent = (expires: number | null) => expires === null || expires > now();
  const find = ({ project_id, environment }: Scope, id: string): KeyRow => {
    const row = one.get(project_id, environment, id);
    if (!row) throw notFound();
    const newer = used.get(id);
    return newer ? { ...row, last_used_at_ms: newer.at, last_used_ip: newer.ip } : row;
  };
  const toKey = (row: KeyRow) => toApiKey(row, now());

  return {
    /** Who a secret belongs to, or null. Asked of the database every time, so that a revocation counts at once. */
    authenticate(secret: string, ip: string | null): Principal | null {
      if (environmentOf(secret) === null) return null;
      const row = admission.get(hashSecret(secret));
      if (!row || row.settings === null || !isCurrent(row.expires_at_ms) || !isFrom(row.allowed_cidrs, ip)) return null;
      used.set(row.id, { at: now(), ip });
      return toPrincipal(row);
    },

    /** Whether a key that was accepted earlier would be accepted still; open streams ask this every second. */
    isValid(id: string): boolean {
      const row = validity.get(id);
      return row !== null && isCurrent(row.expires_at_ms);
    },

    /** `created_by` is the id of the key or user who asked, or `cli`. The secret is in the answer and nowhere else. */
    create(scope: Scope, input: CreateKey, created_by: string) {
      const { project_id, environment } = scope;
      const secret = mintSecret(environment);
      return db.write(() => {
        const [id, at] = [newId("api_key", now()), now()];
        sqlite
          .query(
            `INSERT INTO api_keys (id, project_id, environment, hash, name, prefix, last4, scopes, agent_ids,
               allowed_cidrs, metadata, created_by, created_at_ms, expires_at_ms)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
          )
          .run(
            id,
            project_id,
            environment,
            hashSecret(secret),
            input.name,
            secret.slice(0, 12),
            secret.slice(-4),
            JSON.stringify(permissions.filter((permission) => input.scopes.includes(permission))),
            input.agent_ids ? JSON.stringify(input.agent_ids) : null,
            input.allowed_cidrs ? JSON.stringify(input.allowed_cidrs) : null,
            JSON.stringify(input.metadata ?? {}),
            created_by,
            at,
            input.expires_in_seconds === undefined ? null : at + input.expires_in_seconds * 1000,
          );
        return { ...toKey(find(scope, id)), secret };
      });
    },

    list: (scope: Scope, page: Page) => toList(listRows<KeyRow>(db, { table: "api_keys", scope, page }), toKey),

    get: (scope: Scope, id: string) => toKey(find(scope, id)),

    revoke: (scope: Scope, id: string) =>
      db.write(() => {
        const row = find(scope, id);
        if (row.revoked_at_ms !== null) throw notFound();
        const isAdmin = isCurrent(row.expires_at_ms) && row.scopes.includes('"admin"');
        if (isAdmin && otherAdmins.get(scope.project_id, scope.environment, id, now())!.n === 0)
          throw new AppError("last_admin_key", "This is the last admin key: without it nobody could make another one.");
        revocation.run(now(), id);
        return { id, object: "api_key" as const, deleted: true };
      }),

    /** For a secret that came in clear text: stamped, and a live one revoked unless the operator keeps it. */
    expose: (secret: string, { keepLive = false } = {}): Promise<void> =>
      db.write(() => {
        const row = environmentOf(secret) === null ? null : admission.get(hashSecret(secret));
        if (!row) return;
        sqlite.query("UPDATE api_keys SET exposed_at_ms = coalesce(exposed_at_ms, ?) WHERE id = ?").run(now(), row.id);
        if (row.environment === "live" && !keepLive) revocation.run(now(), row.id);
      }),

    /** Writes when keys were last used: every minute and at the end, since a write per request would halve the reads. */
    async writeLastUsed(): Promise<void> {
      const batch = [...used];
      if (batch.length === 0) return;
      const update = sqlite.query("UPDATE api_keys SET last_used_at_ms = ?, last_used_ip = ? WHERE id = ?");
      await db.write(() => {
        for (const [id, { at, ip }] of batch) update.run(at, ip, id);
      });
      for (const [id, use] of batch) if (used.get(id) === use) used.delete(id);
    },
  };
}

function isFrom(allowedCidrs: string | null, ip: string | null): boolean {
  if (allowedCidrs === null) return true;
  const address = ip === null ? null : parseAddress(ip);
  if (!address) return false;
  return (JSON.parse(allowedCidrs) as string[]).some((text) => {
    const network = parseCidr(text);
    return network !== null && holds(network, address);
  });
}

const toPrincipal = (row: Admission): Principal => ({
  kind: "key",
  id: row.id,
  project_id: row.project_id,
  environment: row.environment,
  scopes: scopeSet(row.scopes),
  agent_ids: row.agent_ids === null ? null : JSON.parse(row.agent_ids),
  limits: row.settings === "{}" || row.settings === null ? noLimits : JSON.parse(row.settings),
});

const noLimits: Partial<RateLimits> = {};
// Three permissions make seven texts: parsing each of them once is no cache of anybody's key.
const scopeSets = new Map<string, ReadonlySet<Permission>>();
function scopeSet(text: string): ReadonlySet<Permission> {
  const known = scopeSets.get(text) ?? new Set<Permission>(JSON.parse(text));
  if (scopeSets.size < 16) scopeSets.set(text, known);
  return known;
}

function toApiKey(row: KeyRow, now: number) {
  const expired = row.expires_at_ms !== null && row.expires_at_ms <= now;
  return {
    id: row.id,
    object: "api_key" as const,
    name: row.name,
    prefix: row.prefix,
    last4: row.last4,
    scopes: JSON.parse(row.scopes) as Permission[],
    environment: row.environment,
    project_id: row.project_id,
    status:
      row.revoked_at_ms !== null ? "revoked" : expired ? "expired" : row.rotated_to !== null ? "rotating" : "active",
    agent_ids: row.agent_ids === null ? null : (JSON.parse(row.agent_ids) as string[]),
    allowed_cidrs: row.allowed_cidrs === null ? null : (JSON.parse(row.allowed_cidrs) as string[]),
    metadata: JSON.parse(row.metadata) as Record<string, string>,
    created_at: timestamp(row.created_at_ms),
    created_by: row.created_by,
    last_used_at: timestampOrNull(row.last_used_at_ms),
    last_used_ip: row.last_used_ip,
    expires_at: timestampOrNull(row.expires_at_ms),
    revoked_at: timestampOrNull(row.revoked_at_ms),
    exposed_at: timestampOrNull(row.exposed_at_ms),
    rotated_to: row.rotated_to,
    rotated_from: row.rotated_from,
  };
}
