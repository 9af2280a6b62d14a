import type { OAuthGrantStatus } from "../../domain/api-types/enums.ts";
import { changeable } from "../../domain/api-types/schema.ts";
import { timestamp, timestampOrNull } from "../../domain/time.ts";
import type { ClientDefinition } from "../../runtime/oauth/client-definition.ts";
import type { oauthClients, oauthGrants } from "../../storage/db/schema.ts";

export type ClientRow = typeof oauthClients.$inferSelect;
export type GrantRow = typeof oauthGrants.$inferSelect;

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
