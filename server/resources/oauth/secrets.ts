import type { Scope } from "../../domain/scope.ts";
import type { Seal } from "../../lib/seal.ts";
import type { StoredAttempt, StoredRevocation } from "../../runtime/oauth/client-definition.ts";

/** Encrypted part of a client. */
interface ClientSecrets {
  client_secret: string | null;
}

/** Encrypted part of a grant. */
export interface StoredTokens {
  access_token: string;
  token_type: "bearer";
  refresh_token: string | null;
  /** How long the issuer's tokens last: an issuer may not repeat it when it refreshes. Null: it never said. */
  lifetime_seconds: number | null;
}

interface Kinds {
  client: ClientSecrets;
  grant: StoredTokens;
  authorization: StoredAttempt;
  revocation: StoredRevocation;
}

/** Encrypts the secret parts of rows. A part that is copied to another row or project does not open. */
export function createOAuthSecrets(seal: Seal) {
  const context = (kind: keyof Kinds, { project_id, environment }: Scope, id: string): string =>
    `oauth_${kind}/${project_id}/${environment}/${id}`;
  return {
    seal: <Kind extends keyof Kinds>(kind: Kind, scope: Scope, id: string, value: Kinds[Kind]): string =>
      seal.seal(JSON.stringify(value), context(kind, scope, id)),
    /** Throws if the text belongs to another row. */
    open: <Kind extends keyof Kinds>(kind: Kind, scope: Scope, id: string, sealed: string): Kinds[Kind] =>
      JSON.parse(seal.open(sealed, context(kind, scope, id))),
  };
}

export type OAuthSecrets = ReturnType<typeof createOAuthSecrets>;
