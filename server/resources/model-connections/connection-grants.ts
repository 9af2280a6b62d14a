import { and, eq, gt, lte, ne, or } from "drizzle-orm";
import type { CodedError } from "../../domain/errors.ts";
import { timestampOrNull } from "../../domain/time.ts";
import { grantIdentity } from "../../http/oauth-client-faults.ts";
import { randomToken } from "../../lib/random-token.ts";
import type { Seal } from "../../lib/seal.ts";
import type { IssuerClient, StoredAttempt, StoredRevocation } from "../../runtime/oauth/client-definition.ts";
import type { TokenSet } from "../../runtime/oauth/read-tokens.ts";
import type { Actor } from "../../storage/db/audit.ts";
import type { Db } from "../../storage/db/open.ts";
import {
  modelConnectionConsents as consents,
  modelConnectionGrants as grants,
  modelConnectionRevocations as revocations,
} from "../../storage/db/schema.ts";

export type ConnectionGrants = ReturnType<typeof createConnectionGrants>;

/** Tokens of a connection to which an operator consented. */
export type ConnectionGrant = typeof grants.$inferSelect;

/** Encrypted part of a grant. */
interface StoredTokens {
  /** The client that they were issued for: a cell may have the grants of a moment before or after its connections. */
  client: string;
  access_token: string;
  refresh_token: string | null;
  /** How long the issuer's tokens last: an issuer may not repeat it when it refreshes. Null: it never said. */
  lifetime_seconds: number | null;
}

/** A consent under way. */
type OpenConsent = StoredConsent & { connection: string };

/** Encrypted part of a consent under way. */
interface StoredConsent extends StoredAttempt {
  /** Who asked for it. */
  actor: Actor;
}

const consent_ms = 10 * 60_000;
/** Longer than the exchange of a code takes, with the metadata of its issuer. */
const exchange_ms = 60_000;
/** All requests of a refresh, with those for its issuer's metadata, end within this time. */
export const refresh_ms = 15_000;
/** Longer than a refresh and the storage of its tokens, so that no other process begins one meanwhile. */
const claim_ms = 20_000;

/** Stored tokens of connections, and consents under way. Call all that write inside a write. */
export function createConnectionGrants({ db, seal, now }: { db: Db; seal: Seal; now: () => number }) {
  const { orm } = db;
  const selectAll = orm.select().from(grants).prepare();
  const rows = db.kept.rows((): readonly ConnectionGrant[] => selectAll.all()).of;
  // Read anew, because another process may have changed it.
  const select = (connection: string): ConnectionGrant | null =>
    orm.select().from(grants).where(eq(grants.connection, connection)).get() ?? null;
  const deleteOld = db.sqlite.query(
    `DELETE FROM model_connection_consents WHERE state_hash IN (
       SELECT state_hash FROM model_connection_consents WHERE expires_at_ms < ? LIMIT ?)`,
  );
  const isOf = ({ connection, sealed }: ConnectionGrant) =>
    and(eq(grants.connection, connection), eq(grants.sealed, sealed));
  const isOpen = (state: string) =>
    and(eq(consents.state_hash, hashOf(state)), ne(consents.sealed, ""), gt(consents.expires_at_ms, now()));
  const sealTokens = (connection: string, tokens: StoredTokens): string =>
    seal.seal(JSON.stringify(tokens), grantContext(connection));

  const tokensOf = ({ connection, sealed }: ConnectionGrant): StoredTokens | null =>
    sealed === "" ? null : JSON.parse(seal.open(sealed, grantContext(connection)));

  function consentOf(row: typeof consents.$inferSelect | undefined): OpenConsent | null {
    if (!row) return null;
    const attempt: StoredConsent = JSON.parse(seal.open(row.sealed, consentContext(row.state_hash)));
    return { ...attempt, connection: row.connection };
  }

  /** Queues the revocation of tokens; `client` is the one that got them. */
  function revokeLater(client: IssuerClient, tokens: Pick<StoredTokens, "access_token" | "refresh_token">): void {
    if (client.issuer === null && client.revocation_endpoint === null) return;
    const id = randomToken();
    const { refresh_token, access_token } = tokens;
    const order: StoredRevocation = {
      client,
      tokens: [
        ...(refresh_token === null ? [] : [{ token: refresh_token, hint: "refresh_token" as const }]),
        { token: access_token, hint: "access_token" as const },
      ],
    };
    const sealed = seal.seal(JSON.stringify(order), revocationContext(id));
    orm.insert(revocations).values({ id, sealed, attempts: 0, due_at_ms: now() }).run();
  }

  return {
    /** The grant of a connection; null if there is none. */
    of: (connection: string): ConnectionGrant | null => rows().find((row) => row.connection === connection) ?? null,
    current: select,
    all: rows,
    tokensOf,

    /** State of a connection's consent, without its tokens. */
    stateOf(connection: string) {
      const row = this.of(connection);
      if (!row) return missing;
      const isOver = !row.is_refreshable && row.expires_at_ms !== null && row.expires_at_ms <= now();
      return {
        status: row.status === "active" && isOver ? ("expired" as const) : row.status,
        scopes: [...row.scopes],
        connected_at: timestampOrNull(row.created_at_ms),
        expires_at: timestampOrNull(row.expires_at_ms),
        refreshed_at: timestampOrNull(row.refreshed_at_ms),
        error: row.error && { code: row.error.code, message: row.error.message },
      };
    },

    /**
     * Reserves the refresh of a grant for this process. Returns false if another one has it, or has changed the grant. A
     * claim that ends too late was made before the clock was set back.
     */
    claim: (row: ConnectionGrant): boolean =>
      orm
        .update(grants)
        .set({ claimed_until_ms: now() + claim_ms })
        .where(and(isOf(row), or(lte(grants.claimed_until_ms, now()), gt(grants.claimed_until_ms, now() + claim_ms))))
        .returning({ connection: grants.connection })
        .all().length > 0,
    release: (row: ConnectionGrant): void => {
      orm.update(grants).set({ claimed_until_ms: 0 }).where(isOf(row)).run();
    },

    /**
     * Stores tokens after a consent in place of earlier ones. These are forgotten and not revoked: many issuers keep one
     * authorization for a person and client, and end the new tokens with it (RFC 7009, 2.1).
     */
    insert(connection: string, client: IssuerClient, tokens: TokenSet, requested: readonly string[]): void {
      const at = now();
      const row: ConnectionGrant = {
        connection,
        status: "active",
        sealed: sealTokens(connection, storedOf(grantIdentity(client), tokens, null)),
        scopes: tokens.scopes ?? requested,
        is_refreshable: tokens.refresh_token !== null,
        expires_at_ms: expiryOf(tokens.expires_in_seconds, at),
        refreshed_at_ms: null,
        claimed_until_ms: 0,
        error: null,
        created_at_ms: at,
      };
      orm.insert(grants).values(row).onConflictDoUpdate({ target: grants.connection, set: row }).run();
    },

    /** Stores refreshed tokens. Returns false if the grant was replaced, or deleted, meanwhile. */
    refresh(row: ConnectionGrant, client: IssuerClient, tokens: TokenSet): boolean {
      const stored = storedOf(grantIdentity(client), tokens, tokensOf(row));
      const changed = orm
        .update(grants)
        .set({
          sealed: sealTokens(row.connection, stored),
          scopes: tokens.scopes ?? row.scopes,
          expires_at_ms: expiryOf(stored.lifetime_seconds, now()),
          refreshed_at_ms: now(),
          claimed_until_ms: 0,
        })
        .where(isOf(row))
        .returning({ connection: grants.connection })
        .all();
      return changed.length > 0;
    },

    /** Marks a grant as failed and erases its tokens. Returns false if it was replaced meanwhile. */
    fail: (row: ConnectionGrant, error: CodedError): boolean =>
      orm
        .update(grants)
        .set({ status: "failed", sealed: "", is_refreshable: false, expires_at_ms: null, claimed_until_ms: 0, error })
        .where(isOf(row))
        .returning({ connection: grants.connection })
        .all().length > 0,

    /** Erases the grant of a connection and what is under way for it; `client` is the one that got the tokens. */
    erase(connection: string, client: IssuerClient | null): void {
      const row = select(connection);
      const tokens = row && client && tokensOf(row);
      if (tokens) revokeLater(client, tokens);
      orm.delete(grants).where(eq(grants.connection, connection)).run();
      orm.delete(consents).where(eq(consents.connection, connection)).run();
    },
    revokeLater,

    /** Stores a consent under way and returns until when it is valid. */
    addConsent(state: string, connection: string, attempt: StoredConsent): number {
      const state_hash = hashOf(state);
      const expires_at_ms = now() + consent_ms;
      const sealed = seal.seal(JSON.stringify(attempt), consentContext(state_hash));
      orm.insert(consents).values({ state_hash, connection, sealed, is_done: false, error: null, expires_at_ms }).run();
      return expires_at_ms;
    },
    /** Returns the consent of a state; null if there is none, it was taken, or its time is up. */
    findConsent: (state: string): OpenConsent | null =>
      consentOf(orm.select().from(consents).where(isOpen(state)).get()),
    /** Binds a consent to the browser with this cookie, instead of an earlier one; null as for `findConsent`. */
    bindConsent: (state: string, browser: string): OpenConsent | null =>
      consentOf(
        orm
          .update(consents)
          .set({ browser_hash: hashOf(browser) })
          .where(isOpen(state))
          .returning()
          .get(),
      ),
    /** Takes the consent of a state, which works once and only with the cookie of its browser; else null. */
    takeConsent(state: string, browser: string): OpenConsent | null {
      const isBound = and(isOpen(state), eq(consents.browser_hash, hashOf(browser)));
      const row = orm.select().from(consents).where(isBound).get();
      const attempt = consentOf(row);
      if (!row || !attempt) return null;
      // It is kept until the exchange is over: one that is gone by then was withdrawn.
      const expires_at_ms = Math.max(row.expires_at_ms, now() + exchange_ms);
      orm.update(consents).set({ sealed: "", expires_at_ms }).where(isBound).run();
      return attempt;
    },
    /**
     * Notes how a consent ended, for the command that waits for it. Returns false if it was deleted: its connection was
     * changed or removed.
     */
    endConsent: (state: string, error: CodedError | null): boolean =>
      orm
        .update(consents)
        .set({ is_done: true, error })
        .where(eq(consents.state_hash, hashOf(state)))
        .returning({ connection: consents.connection })
        .all().length > 0,
    /** Outcome of a consent: null while it is under way, and an error if it was refused, deleted or is too old. */
    outcomeOf(state: string): { error: CodedError | null } | null {
      const row = orm
        .select()
        .from(consents)
        .where(eq(consents.state_hash, hashOf(state)))
        .get();
      if (row?.is_done) return { error: row.error };
      return row && row.expires_at_ms > now() ? null : { error: tooLate };
    },
    /** Deletes up to `limit` expired consents and returns their number. */
    forgetExpired: (limit: number): number => deleteOld.run(now(), limit).changes,

    /** Revocations that are due, at most eight. */
    dueRevocations: () =>
      orm
        .select()
        .from(revocations)
        .where(lte(revocations.due_at_ms, now()))
        .orderBy(revocations.due_at_ms)
        .limit(8)
        .all()
        .map(({ id, sealed, attempts }) => ({
          id,
          attempts,
          order: JSON.parse(seal.open(sealed, revocationContext(id))) as StoredRevocation,
        })),
    endRevocation: (id: string): void => {
      orm.delete(revocations).where(eq(revocations.id, id)).run();
    },
    postponeRevocation: (id: string, attempts: number, pause_ms: number): void => {
      orm
        .update(revocations)
        .set({ attempts, due_at_ms: now() + pause_ms })
        .where(and(eq(revocations.id, id), ne(revocations.attempts, attempts)))
        .run();
    },
  };
}

const missing = {
  status: "missing" as const,
  scopes: [],
  connected_at: null,
  expires_at: null,
  refreshed_at: null,
  error: null,
};

const tooLate: CodedError = { code: "state_invalid", message: "The address was not used within ten minutes." };

/** An issuer that refreshes without a new refresh token keeps the old one, and without a lifetime the old lifetime. */
const storedOf = (client: string, tokens: TokenSet, before: StoredTokens | null): StoredTokens => ({
  client,
  access_token: tokens.access_token,
  refresh_token: tokens.refresh_token ?? before?.refresh_token ?? null,
  lifetime_seconds: tokens.expires_in_seconds ?? before?.lifetime_seconds ?? null,
});

const expiryOf = (seconds: number | null, at: number): number | null => (seconds === null ? null : at + seconds * 1000);
const hashOf = (text: string): Uint8Array => new Bun.CryptoHasher("sha256").update(text).digest();
const grantContext = (connection: string): string => `model_connection_grant:${connection}`;
const consentContext = (hash: Uint8Array): string => `model_connection_consent:${hash.toHex()}`;
const revocationContext = (id: string): string => `model_connection_revocation:${id}`;
