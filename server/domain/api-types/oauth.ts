import type { Static } from "@sinclair/typebox";
import * as t from "../../lib/schema.ts";
import { oauthGrantStatuses, oauthGrantTypes } from "./enums.ts";
import { ExpiresAt, Name, UpdatedAt } from "./fields.ts";
import { ErrorOrNull, envelope, resource } from "./schema.ts";

/** A registration of this server at an authorization server, without its secret. */
export const OAuthClient = resource("OAuthClient", "oauth_client", {
  name: Name,
  grant: t.about("How it gets tokens: for itself, or after a user consented.", t.oneOf(oauthGrantTypes)),
  per_user: t.about("Whether each `user_id` has an own grant; otherwise the project has one.", t.boolean),
  issuer: t.about("The authorization server's issuer; null: its endpoints are given.", t.orNull(t.text)),
  authorization_endpoint: t.about("Where users consent; null: that of the issuer.", t.orNull(t.text)),
  token_endpoint: t.about("Where tokens are issued; null: that of the issuer.", t.orNull(t.text)),
  revocation_endpoint: t.about("Where tokens are revoked; null: that of the issuer.", t.orNull(t.text)),
  client_id: t.about("The client's id at the authorization server.", t.text),
  has_client_secret: t.about("Whether it has a secret, which is never shown.", t.boolean),
  token_endpoint_auth_method: t.about(
    "How the client authenticates; null: as the authorization server says.",
    t.orNull(t.text),
  ),
  scopes: t.about("Rights at the service that users are asked for, as it names them.", t.list(t.text)),
  resource: t.about("The resource for which tokens are requested; null: none.", t.orNull(t.text)),
  audience: t.about("The `audience` of the requests; null: none.", t.orNull(t.text)),
  authorization_params: t.about("Further parameters of the address where users consent.", t.map(t.text)),
  mcp_server_url: t.about(
    "The MCP server whose discovery made this client; null: it was created by a request.",
    t.orNull(t.text),
  ),
  updated_at: UpdatedAt,
});
export type OAuthClient = Static<typeof OAuthClient>;

/** Stored tokens of a user or a project, without the tokens. */
export const OAuthGrant = resource("OAuthGrant", "oauth_grant", {
  oauth_client_id: t.about("Id of the OAuth client that got the tokens: `oac_…`.", t.text),
  user_id: t.about("The user who consented; null: the grant is the project's.", t.orNull(t.text)),
  status: t.about(
    "`active`; `expired`: over, and nothing can refresh it; `failed`: refused by the authorization server.",
    t.oneOf(oauthGrantStatuses),
  ),
  scopes: t.about("Rights at the service that the user or the service allowed.", t.list(t.text)),
  expires_at: ExpiresAt,
  refreshed_at: t.about("When it was last refreshed; null: never.", t.orNull(t.time)),
  error: ErrorOrNull,
});
export type OAuthGrant = Static<typeof OAuthGrant>;

/** Where a user consents. */
export const OAuthAuthorization = t.named(
  "OAuthAuthorization",
  t.object({
    url: t.about("The page to which you send the user. One consent can be given there.", t.text),
    expires_at: t.about("Until when the user can come back.", t.time),
    ...envelope,
  }),
);
export type OAuthAuthorization = Static<typeof OAuthAuthorization>;
