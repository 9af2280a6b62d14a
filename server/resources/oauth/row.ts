import type { OAuthGrantStatus, OAuthGrantType } from "../../domain/api-types/enums.ts";
import { changeable } from "../../domain/api-types/schema.ts";
import { timestamp, timestampOrNull } from "../../domain/time.ts";
import type { oauthClients, oauthGrants } from "../../storage/db/schema.ts";

export type ClientRow = typeof oauthClients.$inferSelect;
export type GrantRow = typeof oauthGrants.$inferSelect;

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

export const definitionOf = ({ definition }: Pick<ClientRow, "definition">): ClientDefinition =>
  definition as ClientDefinition;

/** Serializes a client for its project. */
export function serializeClient(row: ClientRow, hasSecret: boolean) {
  const definition = definitionOf(row);
  return {
    id: row.id,
    object: "oauth_client" as const,
    name: row.name,
    grant: row.grant,
    per_user: row.per_user,
    issuer: definition.issuer,
    authorization_endpoint: definition.authorization_endpoint,
    token_endpoint: definition.token_endpoint,
    revocation_endpoint: definition.revocation_endpoint,
    client_id: definition.client_id,
    has_client_secret: hasSecret,
    token_endpoint_auth_method: definition.token_endpoint_auth_method,
    scopes: [...definition.scopes],
    resource: definition.resource,
    audience: definition.audience,
    authorization_params: { ...definition.authorization_params },
    mcp_server_url: row.mcp_server_url,
    ...changeable(row),
  };
}

/** Returns the status of a grant at a time: one that ran out and cannot be refreshed is `expired`. */
function statusOf(row: Pick<GrantRow, "status" | "is_refreshable" | "expires_at_ms">, at: number): OAuthGrantStatus {
  const isOver = !row.is_refreshable && row.expires_at_ms !== null && row.expires_at_ms <= at;
  return row.status === "active" && isOver ? "expired" : row.status;
}

/** Serializes a grant for its project: never with a token. */
export const serializeGrant = (row: GrantRow, at: number) => ({
  id: row.id,
  object: "oauth_grant" as const,
  oauth_client_id: row.oauth_client_id,
  user_id: row.user_id,
  status: statusOf(row, at),
  scopes: [...row.scopes],
  expires_at: timestampOrNull(row.expires_at_ms),
  refreshed_at: timestampOrNull(row.refreshed_at_ms),
  error: row.error && { code: row.error.code, message: row.error.message },
  metadata: {},
  created_at: timestamp(row.created_at_ms),
  project_id: row.project_id,
  environment: row.environment,
});

/** Names a holder of grants: a user, or the project. */
export const holderOf = (client: Pick<ClientRow, "per_user">, userId: string | null): string | null =>
  client.per_user ? userId : null;
