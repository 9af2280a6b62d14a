import type { Scope } from "../../domain/scope.ts";
import { randomToken } from "../../lib/random-token.ts";
import type { StoredAttempt } from "../../runtime/oauth/client-definition.ts";
import type { Db } from "../../storage/db/open.ts";
import { oauthAuthorizations } from "../../storage/db/schema.ts";
import { columnsOf, createReader } from "../../storage/db/scoped-table.ts";
import type { OAuthSecrets } from "./secrets.ts";

interface AuthorizationStoreOptions {
  db: Db;
  secrets: OAuthSecrets;
  /** True in a cluster: a state contains the project, so that any node can find its cell. */
  naming: boolean;
  now: () => number;
}

/** An authorization under way. */
interface Attempt extends Scope, StoredAttempt {
  oauth_client_id: string;
  user_id: string | null;
  run_id: string | null;
  return_url: string | null;
}

type Row = typeof oauthAuthorizations.$inferSelect;

export type AuthorizationStore = ReturnType<typeof createAuthorizationStore>;

const attempt_ms = 10 * 60_000;

/** Users who were sent to an authorization server. Call those that write inside a write. */
export function createAuthorizationStore({ db, secrets, naming, now }: AuthorizationStoreOptions) {
  const read = createReader(oauthAuthorizations) as (raw: object) => Row;
  const columns = columnsOf(oauthAuthorizations);
  const isOpen = "state_hash = ? AND is_taken = 0 AND expires_at_ms > ?";
  const select = db.sqlite.query<object, [Uint8Array, number]>(
    `SELECT ${columns} FROM oauth_authorizations WHERE ${isOpen}`,
  );
  const bind = db.sqlite.query<object, [Uint8Array, Uint8Array, number]>(
    `UPDATE oauth_authorizations SET browser_hash = ? WHERE ${isOpen} RETURNING ${columns}`,
  );
  const take = db.sqlite.query<object, [number, Uint8Array, number, Uint8Array]>(
    `UPDATE oauth_authorizations SET is_taken = 1, expires_at_ms = ? WHERE ${isOpen} AND browser_hash = ?
     RETURNING ${columns}`,
  );
  const deleteOf = db.sqlite.query("DELETE FROM oauth_authorizations WHERE state_hash = ?");
  const deleteOld = db.sqlite.query(
    `DELETE FROM oauth_authorizations WHERE (project_id, environment, state_hash) IN (
       SELECT project_id, environment, state_hash FROM oauth_authorizations WHERE expires_at_ms < ? LIMIT ?)`,
  );
  const deleteOfUser = db.sqlite.query(
    "DELETE FROM oauth_authorizations WHERE project_id = ? AND environment = ? AND user_id = ?",
  );

  function attemptOf(raw: object | null): Attempt | null {
    if (!raw) return null;
    const row = read(raw);
    const { project_id, environment, oauth_client_id, user_id, run_id, return_url, sealed } = row;
    const stored = secrets.open("authorization", row, row.state_hash.toHex(), sealed);
    return { project_id, environment, oauth_client_id, user_id, run_id, return_url, ...stored };
  }

  return {
    /** Returns a new state: 256 bits, of which only the hash is stored. */
    newState: (scope: Scope): string => randomToken() + (naming ? `.${scope.project_id}` : ""),

    /** Stores an authorization and returns until when it is valid. */
    insert(
      { project_id, environment }: Scope,
      state: string,
      {
        oauth_client_id,
        user_id,
        run_id,
        return_url,
      }: Pick<Row, "oauth_client_id" | "user_id" | "run_id" | "return_url">,
      attempt: StoredAttempt,
    ): number {
      const state_hash = hashOf(state);
      const expires_at_ms = now() + attempt_ms;
      const sealed = secrets.seal("authorization", { project_id, environment }, state_hash.toHex(), attempt);
      db.orm
        .insert(oauthAuthorizations)
        .values({
          project_id,
          environment,
          state_hash,
          oauth_client_id,
          user_id,
          run_id,
          return_url,
          sealed,
          expires_at_ms,
        })
        .run();
      return expires_at_ms;
    },

    /** Returns the authorization of a state; null if there is none, it was taken, or its time is up. */
    find: (state: string): Attempt | null => attemptOf(isLong(state) ? null : select.get(hashOf(state), now())),

    /** Binds an authorization to the browser with this cookie, instead of an earlier one; null as for `find`. */
    bind: (state: string, browser: string): Attempt | null =>
      attemptOf(isLong(state) ? null : bind.get(hashOf(browser), hashOf(state), now())),

    /** Takes the authorization of a state, which works once and only with the cookie of its browser; else null. */
    take: (state: string, browser: string): Attempt | null =>
      attemptOf(isLong(state) ? null : take.get(now() + attempt_ms, hashOf(state), now(), hashOf(browser))),

    /** Deletes an authorization that was taken. Returns false if it was erased meanwhile. */
    end: (state: string): boolean => deleteOf.run(hashOf(state)).changes > 0,

    /** Deletes up to `limit` expired rows. */
    forgetExpired: (limit: number): number => deleteOld.run(now(), limit).changes,
    eraseOfUser: ({ project_id, environment }: Scope, userId: string): number =>
      deleteOfUser.run(project_id, environment, userId).changes,
  };
}

const isLong = (state: string): boolean => state.length > 200;
const hashOf = (text: string): Uint8Array => new Bun.CryptoHasher("sha256").update(text).digest();
