/** How a client authenticates at a token endpoint. */
export const tokenAuthMethods = ["client_secret_basic", "client_secret_post"] as const;

/** How a model connection gets access tokens in place of a key (OAuth 2, client credentials). Its secret is apart. */
export interface ConnectionAuth {
  type: "oauth";
  grant: "client_credentials";
  /** Its metadata has the token endpoint. Null: `token_endpoint` has it. */
  issuer: string | null;
  token_endpoint: string | null;
  client_id: string;
  /** Null: as the issuer's metadata says, by the header if it takes both. */
  token_endpoint_auth_method: (typeof tokenAuthMethods)[number] | null;
  scopes: string[];
  audience: string | null;
  /** Resource indicator (RFC 8707). */
  resource: string | null;
}

/** A connection's OAuth as an operator enters it. An absent or empty secret keeps the stored one. */
export type ConnectionAuthInput = Pick<ConnectionAuth, "type" | "client_id"> & {
  grant?: "client_credentials";
  client_secret?: string | null;
  scopes?: string[] | null;
} & { [Name in "issuer" | "token_endpoint" | "audience" | "resource"]?: string | null } & {
  token_endpoint_auth_method?: ConnectionAuth["token_endpoint_auth_method"];
};

/** A token of a connection, or the reason why there is none. */
export type ConnectionToken =
  | { status: "ready"; token: string }
  /** `retryable`: the authorization server may answer later. */
  | { status: "failed"; message: string; retryable: boolean };
