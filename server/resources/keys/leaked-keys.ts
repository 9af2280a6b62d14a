import { and, eq, isNull } from "drizzle-orm";
import type { Exposure } from "../../domain/api-types/enums.ts";
import type { ClearTextSender } from "../../http/https-only.ts";
import type { StoreBase } from "../../storage/db/audit.ts";
import { apiKeys } from "../../storage/db/schema.ts";
import type { createScopedTable } from "../../storage/db/scoped-table.ts";
import type { KeyRow } from "./key.ts";
import { environmentOf, hashSecret } from "./secret.ts";

interface ExposeOptions extends Required<StoreBase> {
  rows: ReturnType<typeof createScopedTable<typeof apiKeys>>;
  /** True if no admin key would remain without this one. */
  isLastAdmin(row: KeyRow): boolean;
}

interface Sent extends Partial<ClearTextSender> {
  /** True to keep live keys valid, too. */
  keepLive?: boolean;
}

/** A key that was sent in clear text, and the consequence. */
interface ExposedKey extends Pick<KeyRow, "id" | "name" | "environment"> {
  exposure: Exposure;
}

/** Severity: a key that leaked locally may leak remotely later, and one that was kept may be revoked later. */
const weights: Record<Exposure, number> = { local: 1, kept: 2, last_admin_key: 2, revoked: 3 };

/** Records secrets of keys that arrived over plain HTTP. */
export function createLeakedKeys({ db, audit, rows, isLastAdmin, now }: ExposeOptions) {
  const bySecret = (hash: Uint8Array): KeyRow | undefined =>
    db.orm
      .select()
      .from(apiKeys)
      .where(and(eq(apiKeys.hash, hash), isNull(apiKeys.revoked_at_ms)))
      .get();

  function exposureOf(row: KeyRow, { local = false, keepLive = false }: Sent): Exposure {
    if (local) return "local";
    if (row.environment === "test" || keepLive) return "kept";
    // Keep the last admin key: without it no key could be created, and one mistake would lock the operator out.
    return isLastAdmin(row) ? "last_admin_key" : "revoked";
  }

  /** Returns the exposure to record; null for an unknown key, or if one as severe is already recorded. */
  function newExposure(row: KeyRow | undefined, request: Sent): Exposure | null {
    if (!row) return null;
    const exposure = exposureOf(row, request);
    return row.exposure === null || weights[exposure] > weights[row.exposure] ? exposure : null;
  }

  /** Stamps the key of a secret that arrived in clear text, and revokes a live one. Returns null if nothing changes. */
  return async function expose(secret: string, sent: Sent = {}): Promise<ExposedKey | null> {
    const hash = environmentOf(secret) === null ? null : hashSecret(secret);
    // Check before writing, so that a loop of requests causes one write.
    if (!hash || newExposure(bySecret(hash), sent) === null) return null;
    return await db.write(() => {
      const row = bySecret(hash);
      const exposure = newExposure(row, sent);
      if (!row || exposure === null) return null;
      const at = now();
      const revoked = exposure === "revoked";
      rows.update(row, row.id, { exposed_at_ms: at, exposure, revoked_at_ms: revoked ? at : undefined });
      const actor = { type: "api_key" as const, id: row.id, ip: sent.ip ?? null, request_id: null };
      audit.note({ ...row, actor }, "api_key.exposed", row.id, { name: row.name, revoked, exposure });
      return { id: row.id, name: row.name, environment: row.environment, exposure };
    });
  };
}
