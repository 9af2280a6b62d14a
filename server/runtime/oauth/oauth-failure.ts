/** Reason why an authorization server gave no token. The message is for people and has nothing secret. */
export class OAuthFailure extends Error {
  override readonly name = "OAuthFailure";

  constructor(
    readonly code: OAuthFailureCode,
    message: string,
    /** True if the same request may succeed later. */
    readonly retryable = false,
  ) {
    super(message);
  }
}

type OAuthFailureCode =
  /** The code or the refresh token is used, expired, revoked or of somebody else: a person has to consent again. */
  | "grant_refused"
  /** The server refuses the client, its secret, its scopes or its request. */
  | "client_refused"
  /** The server cannot be reached, or cannot answer now. */
  | "issuer_unreachable"
  /** The server's address is not allowed here. */
  | "url_not_allowed"
  /** The server's answer is none of the protocol. */
  | "issuer_invalid"
  /** The server cannot do what is needed. */
  | "issuer_unsuitable"
  /** The person did not consent. */
  | "access_denied";
