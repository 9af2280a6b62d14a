import { AppError } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import { notFound } from "../../domain/not-found.ts";
import { permissions, type Scope } from "../../domain/scope.ts";
import { timestamp, timestampOrNull } from "../../domain/time.ts";
import { listPage, type Page } from "../../http/page.ts";
import type { Author, StoreBase } from "../../storage/db/audit.ts";
import { apiKeys } from "../../storage/db/schema.ts";
import { createScopedTable } from "../../storage/db/scoped-table.ts";
import { type ApiKey, type KeyRow, keyStatus, toApiKey } from "./key.ts";
import { createKeyLookup } from "./key-lookup.ts";
import { createKeyRules } from "./key-rules.ts";
import { createLeakedKeys } from "./leaked-keys.ts";
import { type Rights, rightsOf } from "./rights.ts";
import type { CreateKey, RotateKey, UpdateKey } from "./schema.ts";
import { hashSecret, mintSecret } from "./secret.ts";

export type KeyStore = ReturnType<typeof createKeyStore>;

export function createKeyStore({ db, audit, now = Date.now }: StoreBase) {
  const { lastUse, ...admission } = createKeyLookup({ db, now });
  const rows = createScopedTable(db, apiKeys);
  const { find } = rows;
  const { noLongerValid } = admission;
  const { requireStanding, requireRights, requireReach, isLastAdmin, requireAnotherAdmin, newEnd } = createKeyRules({
    db,
    find,
    noLongerValid,
    now,
  });
  function toKey(row: KeyRow): ApiKey {
    const newer = lastUse(row.id);
    return toApiKey(newer ? { ...row, last_used_at_ms: newer.at, last_used_ip: newer.ip } : row, now());
  }

  /** Inserts a key. The secret is only in the response. Call inside a write. */
  function insert(
    author: Author,
    rights: Rights,
    { name, metadata, rotated_from }: Named,
  ): ApiKey & { secret: string } {
    const { environment, actor } = author;
    const [id, secret] = [newId("api_key", now()), mintSecret(environment)];
    const row = rows.insert(author, {
      id,
      hash: hashSecret(secret),
      name,
      prefix: secret.slice(0, 12),
      last4: secret.slice(-4),
      ...rights,
      scopes: permissions.filter((permission) => rights.scopes.includes(permission)),
      created_by: actor.type === "cli" ? "cli" : actor.id,
      metadata,
      created_at_ms: now(),
      rotated_from,
    });
    return { ...toKey(row), secret };
  }

  const after = (seconds: number): number => now() + seconds * 1000;

  return {
    ...admission,

    create: (author: Author, input: CreateKey) =>
      db.write(() => {
        requireStanding(author);
        const rights: Rights = {
          scopes: input.scopes,
          agent_ids: input.agent_ids ?? null,
          allowed_cidrs: input.allowed_cidrs ?? null,
          expires_at_ms: input.expires_in_seconds === undefined ? null : after(input.expires_in_seconds),
        };
        requireRights(author, rights);
        const newKey = insert(author, rights, { name: input.name, metadata: input.metadata ?? {} });
        audit.note(author, "api_key.created", newKey.id, {
          name: newKey.name,
          scopes: newKey.scopes,
          expires_at: newKey.expires_at,
        });
        return newKey;
      }),

    list: (scope: Scope, page: Page) => listPage(db, { table: apiKeys, kind: "api_key", scope, page }, toKey),

    get: (scope: Scope, id: string): ApiKey => toKey(find(scope, id)),

    update: (author: Author, id: string, { name, expires_at, metadata }: UpdateKey): Promise<ApiKey> =>
      db.write(() => {
        const row = find(author, id);
        requireStanding(author);
        requireReach(author, row);
        const after = {
          name: name ?? row.name,
          metadata: metadata ?? row.metadata,
          expires_at_ms: expires_at === undefined ? row.expires_at_ms : newEnd(author, row, expires_at),
        };
        const changes = (["name", "metadata", "expires_at_ms"] as const).filter(
          (field) => JSON.stringify(after[field]) !== JSON.stringify(row[field]),
        );
        if (changes.length === 0) return toKey(row);
        const updatedRow = rows.update(author, id, after);
        const end = timestampOrNull(updatedRow.expires_at_ms);
        audit.note(author, "api_key.updated", id, {
          changes: changes.map((field) => field.replace(/_ms$/, "")),
          expires_at: end,
        });
        return toKey(updatedRow);
      }),

    /** Creates a successor with the same rights. Both keys are valid until the overlap ends. */
    rotate: (author: Author, id: string, { overlap_seconds = 86_400, expires_in_seconds }: RotateKey) =>
      db.write(() => {
        const row = find(author, id);
        requireStanding(author);
        const status = keyStatus(row, now());
        if (status !== "active")
          throw new AppError("key_not_active", `The key is ${status}: only an active one can be rotated.`, {
            details: { status, rotated_to: row.rotated_to },
          });
        const rights = rightsOf(row);
        if (expires_in_seconds !== undefined) rights.expires_at_ms = after(expires_in_seconds);
        requireRights(author, rights);
        const made = insert(author, rights, { ...row, rotated_from: id });
        const end = Math.min(after(overlap_seconds), row.expires_at_ms ?? Number.POSITIVE_INFINITY);
        const before = rows.update(author, id, { rotated_to: made.id, expires_at_ms: end });
        audit.note(author, "api_key.rotated", id, { rotated_to: made.id, expires_at: timestamp(end) });
        return { ...made, previous: { id, status: keyStatus(before, now()), expires_at: timestamp(end) } };
      }),

    revoke: (author: Author, id: string) =>
      db.write(() => {
        const row = find(author, id);
        requireStanding(author);
        requireReach(author, row);
        if (row.revoked_at_ms !== null) throw notFound();
        requireAnotherAdmin(row);
        rows.update(author, id, { revoked_at_ms: now() });
        audit.note(author, "api_key.revoked", id, { name: row.name });
        return { id, object: "api_key" as const, deleted: true };
      }),

    expose: createLeakedKeys({ db, audit, rows, isLastAdmin, now }),
  };
}

/** Fields of a key beside its rights. */
type Named = Pick<KeyRow, "name" | "metadata"> & { rotated_from?: string };
