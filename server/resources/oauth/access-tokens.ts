import type { AccessToken } from "../../domain/access-token.ts";
import type { Scope } from "../../domain/scope.ts";

export type { AccessToken } from "../../domain/access-token.ts";

/** A grant that was stored after its user consented. */
export interface NewGrant {
  scope: Scope;
  oauthClientId: string;
  userId: string | null;
}

/** A consent that its user refused. */
export interface DeniedGrant {
  scope: Scope;
  oauthClientId: string;
  /** The run for which it was asked; null if it was for none. */
  runId: string | null;
  /** The words of the authorization server. */
  reason: string;
}

/** Where a user has to go to consent. */
export interface AuthorizationUrl {
  url: string;
  expiresAt: number;
}

export interface AccessTokens {
  /**
   * Returns the token of a client. `userId` is the run's; ignored by clients that are not per user. Refreshes once for
   * all who ask at the same time. `rejected` is the token that a server refused with 401: it is refreshed even if it has
   * not expired.
   */
  get(scope: Scope, oauthClientId: string, userId: string | null, rejected?: string): Promise<AccessToken>;
  /**
   * Returns the address to which the user is sent. Its callback stores the grant and then calls every listener of
   * `onGranted`.
   */
  authorize(
    scope: Scope,
    oauthClientId: string,
    request: { userId: string | null; runId?: string; returnUrl?: string },
  ): Promise<AuthorizationUrl>;
  onGranted(listener: (grant: NewGrant) => void): void;
  /** Calls back when a user came back from the authorization server without consenting. */
  onDenied(listener: (denial: DeniedGrant) => void): void;
}

/** Creates the tokens of OAuth clients. */
export function createAccessTokens(): AccessTokens {
  const unknown = async (): Promise<AccessToken> => ({
    status: "failed",
    code: "oauth_client_not_found",
    message: "There is no such OAuth client.",
    retryable: false,
  });
  return {
    get: unknown,
    authorize: () => Promise.reject(new Error("There is no such OAuth client.")),
    onGranted() {},
    onDenied() {},
  };
}
