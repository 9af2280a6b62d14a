/** How a client authenticates at a token endpoint. */
export const tokenAuthMethods = ["client_secret_basic", "client_secret_post"] as const;

/** How a connection gets its tokens: for its client itself, or after an operator's consent. */
export const connectionGrantTypes = ["client_credentials", "authorization_code"] as const;

/** States of an operator's consent; `missing`: no operator has consented yet. */
export const connectionConsentStatuses = ["missing", "active", "expired", "failed"] as const;

/** How a model connection gets access tokens in place of a key (OAuth 2). Its secret is apart. */
export interface ConnectionAuth {
  type: "oauth";
  grant: (typeof connectionGrantTypes)[number];
  /** Its metadata has the endpoints. Null: they are given here. */
  issuer: string | null;
  /** Where an operator consents; for authorization codes without an issuer. */
  authorization_endpoint: string | null;
  token_endpoint: string | null;
  /** Where tokens are revoked; null: that of the issuer, if it has one. */
  revocation_endpoint: string | null;
  client_id: string;
  /** Null: as the issuer's metadata says, by the header if it takes both. */
  token_endpoint_auth_method: (typeof tokenAuthMethods)[number] | null;
  scopes: string[];
  audience: string | null;
  /** Resource indicator (RFC 8707). */
  resource: string | null;
}

/** Fields of a connection's OAuth that are addresses, or null. */
export const authAddressFields = ["issuer", "authorization_endpoint", "token_endpoint", "revocation_endpoint"] as const;

/** A connection's OAuth as an operator enters it. An absent or empty secret keeps the stored one. */
export type ConnectionAuthInput = Pick<ConnectionAuth, "type" | "client_id"> & {
  grant?: ConnectionAuth["grant"];
  client_secret?: string | null;
  scopes?: string[] | null;
} & { [Name in (typeof authAddressFields)[number] | "audience" | "resource"]?: string | null } & {
  token_endpoint_auth_method?: ConnectionAuth["token_endpoint_auth_method"];
};

/** A token of a connection, or the reason why there is none. */
export type ConnectionToken =
  | { status: "ready"; token: string }
  /** `retryable`: the authorization server may answer later. */
  | { status: "failed"; message: string; retryable: boolean };
