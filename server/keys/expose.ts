import { and, eq, isNull } from "drizzle-orm";
import type { StoreBase } from "../db/audit.ts";
import type { createRows } from "../db/rows.ts";
import { apiKeys } from "../db/schema.ts";
import type { KeyRow } from "./key.ts";
import { environmentOf, hashSecret } from "./secret.ts";

type Rows = Pick<ReturnType<typeof createRows<typeof apiKeys>>, "update">;

/** Notes secrets of keys that came where everybody may have read them. */
export function createExpose({ db, audit, rows, now }: Required<StoreBase> & { rows: Rows }) {
  const bySecret = (hash: Uint8Array): KeyRow | undefined =>
    db.orm
      .select()
      .from(apiKeys)
      .where(and(eq(apiKeys.hash, hash), isNull(apiKeys.revoked_at_ms)))
      .get();

  /** For a secret that came in clear text: stamped, and a live one revoked unless the operator keeps it. */
  return async function expose(secret: string, { keepLive = false } = {}): Promise<void> {
    const hash = environmentOf(secret) === null ? null : hashSecret(secret);
    const isNew = (row: KeyRow | undefined): row is KeyRow =>
      row !== undefined && (row.exposed_at_ms === null || revokes(row));
    const revokes = ({ environment }: KeyRow): boolean => environment === "live" && !keepLive;
    // Looked at first: whoever repeats it in a loop may not make us write as often.
    if (!hash || !isNew(bySecret(hash))) return;
    await db.write(() => {
      const row = bySecret(hash);
      if (!isNew(row)) return;
      const revoked_at_ms = revokes(row) ? now() : undefined;
      rows.update(row, row.id, { exposed_at_ms: row.exposed_at_ms ?? now(), revoked_at_ms });
      const actor = { type: "api_key" as const, id: row.id, ip: null, request_id: null };
      audit.note({ ...row, actor }, "api_key.exposed", row.id, { revoked: revokes(row) });
    });
  };
}
