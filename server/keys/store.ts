import { and, eq, isNull } from "drizzle-orm";
import { AppError } from "../core/errors.ts";
import { newId } from "../core/ids.ts";
import { notFound } from "../core/not-found.ts";
import { permissions, type Scope } from "../core/scope.ts";
import { timestamp, timestampOrNull } from "../core/time.ts";
import type { Author, StoreBase } from "../db/audit.ts";
import { createRows } from "../db/rows.ts";
import { apiKeys } from "../db/schema.ts";
import { fault, validationError } from "../http/errors.ts";
import { listPage, type Page } from "../http/page.ts";
import { createAdmission } from "./admission.ts";
import { type ApiKey, type KeyRow, keyStatus, toApiKey } from "./key.ts";
import { type Rights, requireNoMore, requireWithin, rightsOf } from "./rights.ts";
import type { CreateKey, RotateKey, UpdateKey } from "./schema.ts";
import { environmentOf, hashSecret, mintSecret } from "./secret.ts";

const day_ms = 86_400_000;
const longestOverlap_ms = 30 * day_ms;
const longestLife_ms = 10 * 365 * day_ms;
/** Later than any end. */
const never = Number.MAX_SAFE_INTEGER;

export type KeyStore = ReturnType<typeof createKeyStore>;

export function createKeyStore({ db, audit, now = Date.now }: StoreBase) {
  const { sqlite } = db;
  const { lastUse, ...admission } = createAdmission({ db, now });
  const rows = createRows(db, apiKeys);
  const { find } = rows;
  const bySecret = (hash: Uint8Array): KeyRow | undefined =>
    db.orm
      .select()
      .from(apiKeys)
      .where(and(eq(apiKeys.hash, hash), isNull(apiKeys.revoked_at_ms)))
      .get();
  // One that is being rotated does not count: its end is settled, and nobody would be left then. Nor does one that ends
  // sooner or is bounded, unless the one that goes is bounded itself: a key of a minute would be no way back.
  const otherAdmins = sqlite.query<{ n: number }, [string, string, string, number, number, boolean]>(
    `SELECT count(*) AS n FROM api_keys, json_each(scopes) scope
     WHERE project_id = ? AND environment = ? AND api_keys.id <> ? AND scope.value = 'admin' AND revoked_at_ms IS NULL
       AND rotated_to IS NULL AND coalesce(expires_at_ms, ${never}) > ? AND coalesce(expires_at_ms, ${never}) >= ?
       AND (? OR agent_ids IS NULL AND allowed_cidrs IS NULL)`,
  );

  const isCurrent = (expires: number | null) => expires === null || expires > now();

  function toKey(row: KeyRow): ApiKey {
    const newer = lastUse(row.id);
    return toApiKey(newer ? { ...row, last_used_at_ms: newer.at, last_used_ip: newer.ip } : row, now());
  }

  /** Within a write. A body may take its time: a key that was revoked meanwhile changes nothing any more. */
  function requireStanding({ actor }: Author): void {
    if (actor.type === "api_key" && admission.noLongerValid(actor.id))
      throw new AppError("invalid_api_key", "This API key is not valid.");
  }

  function requireRights(author: Author, asked: Rights): void {
    if (author.actor.type === "api_key") requireNoMore(rightsOf(find(author, author.actor.id)), asked);
  }

  function requireReach(author: Author, target: KeyRow): void {
    if (author.actor.type === "api_key") requireWithin(rightsOf(find(author, author.actor.id)), rightsOf(target));
  }

  /** Throws when nobody could make a key any more once this one has ended. */
  function requireAnotherAdmin(row: KeyRow): void {
    if (!isCurrent(row.expires_at_ms) || !row.scopes.includes("admin")) return;
    const isBound = row.agent_ids !== null || row.allowed_cidrs !== null;
    const least = isBound ? 0 : (row.expires_at_ms ?? never);
    if (otherAdmins.get(row.project_id, row.environment, row.id, now(), least, isBound)!.n === 0)
      throw new AppError("last_admin_key", "This is the last admin key: without it nobody could make another one.");
  }

  /** Within a write. The secret is in the answer and nowhere else. */
  function insert(
    author: Author,
    rights: Rights,
    { name, metadata, rotated_from }: Named,
  ): ApiKey & { secret: string } {
    const { environment, actor } = author;
    const [id, secret] = [newId("api_key", now()), mintSecret(environment)];
    const row = rows.insert(author, {
      ...{ id, hash: hashSecret(secret), name, prefix: secret.slice(0, 12), last4: secret.slice(-4), ...rights },
      scopes: permissions.filter((permission) => rights.scopes.includes(permission)),
      created_by: actor.type === "cli" ? "cli" : actor.id,
      ...{ metadata, created_at_ms: now(), rotated_from },
    });
    return { ...toKey(row), secret };
  }

  const after = (seconds: number): number => now() + seconds * 1000;

  /** When a key shall end; throws for an end that it cannot have. */
  function newEnd(author: Author, row: KeyRow, text: string | null): number | null {
    const status = keyStatus(row, now());
    if (status === "revoked" || status === "expired")
      throw new AppError("key_not_active", `The key is ${status}, and stays so. Make another one.`);
    // What is past ends it now: it was in use until now.
    const end = text === null ? null : Math.max(Date.parse(text), now());
    const longest = now() + (status === "rotating" ? longestOverlap_ms : longestLife_ms);
    if (status === "rotating" && (end === null || end > longest))
      throw validationError([fault("expires_at", "A key that is being rotated ends within 30 days from now.")]);
    if (end !== null && end > longest) throw validationError([fault("expires_at", "Ten years from now at most.")]);
    const own = row.expires_at_ms ?? Number.POSITIVE_INFINITY;
    if ((end ?? Number.POSITIVE_INFINITY) > own) requireRights(author, { ...rightsOf(row), expires_at_ms: end });
    if (!isCurrent(end)) requireAnotherAdmin(row);
    return end;
  }

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
        const made = insert(author, rights, { name: input.name, metadata: input.metadata ?? {} });
        audit.note(author, "api_key.created", made.id, {
          name: made.name,
          scopes: made.scopes,
          expires_at: made.expires_at,
        });
        return made;
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
        const changed = rows.update(author, id, after);
        const end = timestampOrNull(changed.expires_at_ms);
        audit.note(author, "api_key.updated", id, {
          changes: changes.map((field) => field.replace(/_ms$/, "")),
          expires_at: end,
        });
        return toKey(changed);
      }),

    /** Makes a key's successor, which has all that it has. Until the overlap ends both are good. */
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

    /** For a secret that came in clear text: stamped, and a live one revoked unless the operator keeps it. */
    async expose(secret: string, { keepLive = false } = {}): Promise<void> {
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
    },
  };
}

/** What a key has beside its rights. */
type Named = Pick<KeyRow, "name" | "metadata"> & { rotated_from?: string };
