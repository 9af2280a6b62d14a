import { AppError } from "../../domain/errors.ts";
import type { Permission } from "../../domain/scope.ts";
import { timestampOrNull } from "../../domain/time.ts";
import type { Identity } from "../../http/principal.ts";
import type { RateLimits } from "../../http/rate-limit.ts";
import { networkContains, parseAddress, parseCidr } from "../../lib/ip-address.ts";
import type { Db } from "../../storage/db/open.ts";
import type { KeyRow } from "./key.ts";
import { environmentOf, hashSecret, hashText } from "./secret.ts";

/** A row as stored; JSON columns are parsed on use. */
interface AdmissionRow extends Pick<KeyRow, "id" | "project_id" | "environment" | "expires_at_ms"> {
  scopes: string;
  agent_ids: string | null;
  allowed_cidrs: string | null;
  /** Null if the project is archived. */
  settings: string | null;
}

/** Time and address of a key's last use. */
interface LastUse {
  at: number;
  ip: string | null;
}

/** A key's identity, before its expiry and its networks are checked. */
interface Admitted extends Pick<AdmissionRow, "expires_at_ms" | "allowed_cidrs"> {
  identity: Identity;
}

/** Time of a key's revocation, and its exposure if it was sent in clear text. */
type Revocation = Pick<KeyRow, "revoked_at_ms" | "exposure">;

/** Authenticates secrets. Cached keys are invalidated by any write that revokes them. */
export function createKeyLookup({ db, now }: { db: Db; now: () => number }) {
  const { sqlite } = db;
  const lastUses = new Map<string, LastUse>();
  // A subquery, because a join costs five times as much, and this runs on every request.
  const admission = `SELECT id, project_id, environment, scopes, agent_ids, allowed_cidrs, expires_at_ms,
      (SELECT p.settings FROM projects p WHERE p.id = project_id AND p.archived_at_ms IS NULL) AS settings
    FROM api_keys WHERE revoked_at_ms IS NULL AND`;
  const byHash = sqlite.query<AdmissionRow, [Uint8Array]>(`${admission} hash = ?`);
  const byId = sqlite.query<AdmissionRow, [string]>(`${admission} id = ?`);
  const validity = sqlite.query<Revocation & { expires_at_ms: number | null; archived: 0 | 1 }, [string]>(
    `SELECT k.expires_at_ms, k.revoked_at_ms, k.exposure, p.archived_at_ms IS NOT NULL AS archived
     FROM api_keys k JOIN projects p ON p.id = k.project_id WHERE k.id = ?`,
  );
  const revocation = sqlite.query<Revocation & Pick<AdmissionRow, "allowed_cidrs">, [Uint8Array]>(
    "SELECT revoked_at_ms, exposure, allowed_cidrs FROM api_keys WHERE hash = ? AND revoked_at_ms IS NOT NULL",
  );
  // Keyed by the hash as text, so that no secret stays in memory.
  const admitted = db.kept.rows((hash: string) => toAdmitted(byHash.get(Buffer.from(hash, "base64"))));
  const keysById = db.kept.rows((id: string) => toAdmitted(byId.get(id)));
  const isCurrent = (expires: number | null) => expires === null || expires > now();

  /** Returns the key's identity; null if it has expired, or the client's network is not allowed. */
  function admit(key: Admitted | null, ip: string | null): Identity | null {
    if (!key || !isCurrent(key.expires_at_ms) || !isFrom(key.allowed_cidrs, ip)) return null;
    lastUses.set(key.identity.id, { at: now(), ip });
    return key.identity;
  }

  return {
    /** Returns the identity of a secret, or null. */
    authenticate(secret: string, ip: string | null): Identity | null {
      const hash = hashText(secret);
      const known = admitted.known(hash);
      if (known !== undefined) return admit(known, ip);
      return environmentOf(secret) === null ? null : admit(admitted.of(hash), ip);
    },

    /** Returns the error of a revoked secret; null for any other. Not cached. */
    revoked(secret: string, ip: string | null): AppError | null {
      const row = environmentOf(secret) === null ? null : revocation.get(hashSecret(secret));
      return row && isFrom(row.allowed_cidrs, ip) ? keyRevoked(row) : null;
    },

    /** Authenticates by a key's id, for client tokens. */
    authenticateFor: (id: string, ip: string | null): Identity | null => admit(keysById.of(id), ip),

    /** Returns the error of a key that is no longer valid, or null. Checked by open streams. */
    noLongerValid(id: string): AppError | null {
      const row = validity.get(id);
      if (!row || row.archived) return new AppError("project_archived", "The project of this API key is closed.");
      if (row.revoked_at_ms !== null) return keyRevoked(row);
      return isCurrent(row.expires_at_ms)
        ? null
        : new AppError("key_expired", "The time of this stream's API key is over.");
    },

    /** Last use that is not written yet. */
    lastUse: (id: string): LastUse | undefined => lastUses.get(id),

    /** Writes the keys' last use, each minute and at shutdown: one write per request would halve the read rate. */
    async writeLastUsed(): Promise<void> {
      const batch = [...lastUses];
      if (batch.length === 0) return;
      const update = sqlite.query("UPDATE api_keys SET last_used_at_ms = ?, last_used_ip = ? WHERE id = ?");
      await db.write(() => {
        for (const [id, { at, ip }] of batch) update.run(at, ip, id);
      });
      for (const [id, use] of batch) if (lastUses.get(id) === use) lastUses.delete(id);
    },
  };
}

function keyRevoked({ revoked_at_ms, exposure }: Revocation): AppError {
  const reason = exposure === "revoked" ? "exposed" : "requested";
  const why = reason === "exposed" ? ", because it was sent over plain HTTP, where others can read it" : "";
  return new AppError("key_revoked", `This API key was revoked${why}. Use another key.`, {
    details: { reason, revoked_at: timestampOrNull(revoked_at_ms) },
  });
}

function isFrom(allowedCidrs: string | null, ip: string | null): boolean {
  if (allowedCidrs === null) return true;
  const address = ip === null ? null : parseAddress(ip);
  if (!address) return false;
  return (JSON.parse(allowedCidrs) as string[]).some((text) => {
    const network = parseCidr(text);
    return network !== null && networkContains(network, address);
  });
}

function toAdmitted(row: AdmissionRow | null): Admitted | null {
  if (!row || row.settings === null) return null;
  const { expires_at_ms, allowed_cidrs } = row;
  return { expires_at_ms, allowed_cidrs, identity: toIdentity(row) };
}

const toIdentity = (row: AdmissionRow): Identity => ({
  kind: "key",
  id: row.id,
  project_id: row.project_id,
  environment: row.environment,
  scopes: scopeSet(row.scopes),
  agent_ids: row.agent_ids === null ? null : JSON.parse(row.agent_ids),
  limits: row.settings === "{}" || row.settings === null ? noLimits : JSON.parse(row.settings),
});

const noLimits: Partial<RateLimits> = {};
// Cache of parsed scope lists: three permissions make only seven of them.
const scopeSets = new Map<string, ReadonlySet<Permission>>();
function scopeSet(text: string): ReadonlySet<Permission> {
  const known = scopeSets.get(text) ?? new Set<Permission>(JSON.parse(text));
  if (scopeSets.size < 16) scopeSets.set(text, known);
  return known;
}
