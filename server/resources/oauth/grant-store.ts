import type { CodedError } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import type { Scope } from "../../domain/scope.ts";
import { listPage, type Page } from "../../http/page.ts";
import type { IssuerClient } from "../../runtime/oauth/client-definition.ts";
import type { TokenSet } from "../../runtime/oauth/read-tokens.ts";
import type { Author, StoreBase } from "../../storage/db/audit.ts";
import { oauthGrants } from "../../storage/db/schema.ts";
import { columnsOf, createReader, createScopedTable } from "../../storage/db/scoped-table.ts";
import type { Revocations } from "./revocations.ts";
import { type GrantRow, serializeGrant } from "./row.ts";
import type { OAuthSecrets, StoredTokens } from "./secrets.ts";

interface GrantStoreOptions extends StoreBase {
  secrets: OAuthSecrets;
  revocations: Pick<Revocations, "add">;
  /** Returns the client of a grant with its secret. */
  clientOf(scope: Scope, id: string): IssuerClient;
  now: () => number;
}

/** A client and the holder of a grant: a user, or null for the project. */
interface GrantKey {
  oauth_client_id: string;
  user_id: string | null;
}

export type GrantStore = ReturnType<typeof createGrantStore>;

/** Stored tokens. Call all that write inside a write. */
export function createGrantStore({ db, audit, secrets, revocations, clientOf, now }: GrantStoreOptions) {
  const rows = createScopedTable(db, oauthGrants);
  const read = createReader(oauthGrants) as (raw: object) => GrantRow;
  const columns = columnsOf(oauthGrants);
  const inScope = "project_id = ? AND environment = ?";
  const selectOf = db.sqlite.query<object, [string, string, string, string]>(
    `SELECT ${columns} FROM oauth_grants WHERE ${inScope} AND oauth_client_id = ? AND ifnull(user_id, '') = ?`,
  );
  const selectOfClient = db.sqlite.query<object, [string, string, string, number]>(
    `SELECT ${columns} FROM oauth_grants WHERE ${inScope} AND oauth_client_id = ? LIMIT ?`,
  );
  const selectOfUser = db.sqlite.query<object, [string, string, string, number]>(
    `SELECT ${columns} FROM oauth_grants WHERE ${inScope} AND user_id = ? LIMIT ?`,
  );
  const selectOfProject = db.sqlite.query<object, [string, number]>(
    `SELECT ${columns} FROM oauth_grants WHERE project_id = ? LIMIT ?`,
  );

  const tokensOf = (row: GrantRow): StoredTokens | null =>
    row.sealed === "" ? null : secrets.open("grant", row, row.id, row.sealed);

  /** Erases a grant here, and has its tokens revoked. */
  function erase(row: GrantRow): void {
    const tokens = tokensOf(row);
    if (tokens) revocations.add(row, clientOf(row, row.oauth_client_id), tokens);
    rows.remove(row, row.id);
  }

  return {
    tokensOf,
    get: (scope: Scope, id: string) => serializeGrant(rows.find(scope, id), now()),
    list: (scope: Scope, page: Page) =>
      listPage(db, { table: oauthGrants, kind: "oauth_grant", scope, page }, (row) => serializeGrant(row, now())),

    /** Returns the grant of a holder; null if there is none. */
    of({ project_id, environment }: Scope, { oauth_client_id, user_id }: GrantKey): GrantRow | null {
      const raw = selectOf.get(project_id, environment, oauth_client_id, user_id ?? "");
      return raw && read(raw);
    },

    /** True if the row is as it was when it was read: nobody refreshed, replaced or erased it. */
    isUnchanged: (row: GrantRow): boolean => rows.get(row, row.id)?.sealed === row.sealed,

    /**
     * Stores tokens after a consent or for the client itself, in place of earlier ones. These are forgotten and not
     * revoked: many issuers keep one authorization for a user and client, and end the new tokens with it (RFC 7009, 2.1).
     */
    insert(
      scope: Scope,
      key: GrantKey,
      tokens: TokenSet,
      requested: readonly string[],
      isRefreshable = tokens.refresh_token !== null,
    ): GrantRow {
      const before = this.of(scope, key);
      if (before) rows.remove(before, before.id);
      const at = now();
      const id = newId("oauth_grant", at);
      return rows.insert(scope, {
        id,
        ...key,
        status: "active",
        sealed: secrets.seal("grant", scope, id, storedOf(tokens, null)),
        scopes: tokens.scopes ?? requested,
        is_refreshable: isRefreshable,
        wanted_scopes: [],
        expires_at_ms: expiryOf(tokens.expires_in_seconds, at),
        refreshed_at_ms: null,
        error: null,
        created_at_ms: at,
      });
    },

    /** Stores refreshed tokens. */
    refresh(row: GrantRow, tokens: TokenSet, isRefreshable: boolean): GrantRow {
      const stored = storedOf(tokens, tokensOf(row));
      return rows.update(row, row.id, {
        status: "active",
        sealed: secrets.seal("grant", row, row.id, stored),
        scopes: tokens.scopes ?? row.scopes,
        is_refreshable: isRefreshable,
        expires_at_ms: expiryOf(stored.lifetime_seconds, now()),
        refreshed_at_ms: now(),
        error: null,
      });
    },

    /** Marks a grant as failed and erases its tokens; `wanted` are scopes for the next authorization. */
    fail(row: GrantRow, error: CodedError, wanted: readonly string[] = []): void {
      rows.update(row, row.id, {
        status: "failed",
        sealed: "",
        is_refreshable: false,
        expires_at_ms: null,
        error,
        wanted_scopes: [...new Set([...row.wanted_scopes, ...wanted])].slice(0, 100),
      });
    },

    remove: (author: Author, id: string) => {
      const row = rows.find(author, id);
      erase(row);
      audit.note(author, "oauth_grant.deleted", id, { oauth_client_id: row.oauth_client_id });
      return { id, object: "oauth_grant" as const, deleted: true };
    },

    /** Erases up to `most` grants of a client, or of a user; returns how many. */
    eraseOfClient({ project_id, environment }: Scope, clientId: string, most: number): number {
      const found = selectOfClient.all(project_id, environment, clientId, most).map(read);
      for (const row of found) erase(row);
      return found.length;
    },
    eraseOfUser({ project_id, environment }: Scope, userId: string, most: number): number {
      const found = selectOfUser.all(project_id, environment, userId, most).map(read);
      for (const row of found) erase(row);
      return found.length;
    },
    /** Moves up to `most` grants of a project that is being deleted into the revocations; returns how many. */
    eraseOfProject(projectId: string, most: number): number {
      const found = selectOfProject.all(projectId, most).map(read);
      for (const row of found) erase(row);
      return found.length;
    },
  };
}

/** An issuer that refreshes without a new refresh token keeps the old one, and without a lifetime the old lifetime. */
const storedOf = (tokens: TokenSet, before: StoredTokens | null): StoredTokens => ({
  access_token: tokens.access_token,
  token_type: "bearer",
  refresh_token: tokens.refresh_token ?? before?.refresh_token ?? null,
  lifetime_seconds: tokens.expires_in_seconds ?? before?.lifetime_seconds ?? null,
});

const expiryOf = (seconds: number | null, at: number): number | null => (seconds === null ? null : at + seconds * 1000);
