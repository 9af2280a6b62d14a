import { and, eq, isNull } from "drizzle-orm";
import type { StoreBase } from "../db/audit.ts";
import type { createRows } from "../db/rows.ts";
import { apiKeys } from "../db/schema.ts";
import type { ClearTextSender } from "../http/https-only.ts";
import type { Exposure } from "../wire/names.ts";
import type { KeyRow } from "./key.ts";
import { environmentOf, hashSecret } from "./secret.ts";

interface ExposeOptions extends Required<StoreBase> {
  rows: Pick<ReturnType<typeof createRows<typeof apiKeys>>, "update">;
  /** Whether nobody could make a key any more without this one. */
  isLastAdmin(row: KeyRow): boolean;
}

interface Sent extends Partial<ClearTextSender> {
  /** Live keys are kept too. */
  keepLive?: boolean;
}

/** What came of a key that was sent in clear text. */
interface ExposedKey extends Pick<KeyRow, "id" | "name" | "environment"> {
  exposure: Exposure;
}

/** How bad it was: a key from this machine may come from elsewhere later, and one that was kept be revoked later. */
const weights: Record<Exposure, number> = { local: 1, kept: 2, last_admin_key: 2, revoked: 3 };

/** Notes secrets of keys that came where others may have read them. */
export function createExpose({ db, audit, rows, isLastAdmin, now }: ExposeOptions) {
  const bySecret = (hash: Uint8Array): KeyRow | undefined =>
    db.orm
      .select()
      .from(apiKeys)
      .where(and(eq(apiKeys.hash, hash), isNull(apiKeys.revoked_at_ms)))
      .get();

  function exposureOf(row: KeyRow, { local = false, keepLive = false }: Sent): Exposure {
    if (local) return "local";
    if (row.environment === "test" || keepLive) return "kept";
    // Without it nobody could make another key, and the operator would be locked out by a mistake.
    return isLastAdmin(row) ? "last_admin_key" : "revoked";
  }

  /** What follows from this request; null for a key that is not there, or of which as much is noted. */
  function newExposure(row: KeyRow | undefined, sent: Sent): Exposure | null {
    if (!row) return null;
    const exposure = exposureOf(row, sent);
    return row.exposure === null || weights[exposure] > weights[row.exposure] ? exposure : null;
  }

  /** For a secret that came in clear text: stamps its key, and revokes a live one. Returns null if there is nothing new. */
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
