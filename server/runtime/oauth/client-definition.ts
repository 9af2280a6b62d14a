import type { OAuthGrantType } from "../../domain/api-types/enums.ts";

export const authMethods = ["client_secret_basic", "client_secret_post", "none"] as const;
export type AuthMethod = (typeof authMethods)[number];

/** How a client reaches its authorization server. */
export interface ClientDefinition {
  /** Its metadata has the endpoints. Null: they are given here. */
  issuer: string | null;
  authorization_endpoint: string | null;
  token_endpoint: string | null;
  revocation_endpoint: string | null;
  client_id: string;
  /** Null: by the secret and the server's metadata. */
  token_endpoint_auth_method: AuthMethod | null;
  scopes: readonly string[];
  /** Resource indicator (RFC 8707). */
  resource: string | null;
  audience: string | null;
  authorization_params: Readonly<Record<string, string>>;
  /** The callback that was registered, for clients that registered themselves. */
  redirect_uri?: string;
}

/** A client with its secret, for requests to its authorization server. */
export interface IssuerClient extends ClientDefinition {
  grant: OAuthGrantType;
  client_secret: string | null;
}

/** Encrypted part of an authorization under way. */
export interface StoredAttempt {
  verifier: string;
  /** The issuer expects the same address again with the code. */
  redirect_uri: string;
  scopes: readonly string[];
  /** The client as it was when the user was sent. */
  definition: ClientDefinition;
}

/** Encrypted part of a revocation: all that its request needs, because the client may be gone. */
export interface StoredRevocation {
  client: IssuerClient;
  /** In the order of their revocation. */
  tokens: readonly { token: string; hint: "refresh_token" | "access_token" }[];
}
