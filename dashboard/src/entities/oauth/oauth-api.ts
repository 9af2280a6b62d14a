import { queryOptions } from "@tanstack/react-query";
import type { OAuthAuthorization, OAuthClient, OAuthGrant } from "../../../../server/domain/api-types/oauth.ts";
import type { List } from "../../../../server/domain/api-types/schema.ts";
import type { AuthorizeOAuthClient } from "../../../../server/resources/oauth/schema.ts";
import { ApiError, get, post, query } from "../../lib/api.ts";
import { pageQuery } from "../../lib/page-search.ts";
import { resource, type WorkspaceKey } from "../crud/resource.ts";
import type { OAuthClientSearch } from "./read-oauth-search.ts";

export const oauthClientApi = resource<OAuthClient>("oauth_clients", ({ name }) => name);
export const oauthGrantApi = resource<OAuthGrant>("oauth_grants");

/** Grants of a client, newest first. A consent may be given in another window, so it is refetched. */
export function grantsQuery(at: WorkspaceKey, clientId: string, { user, after, before }: OAuthClientSearch) {
  const values = { limit: 50, oauth_client_id: clientId, user_id: user, ...pageQuery({ after, before }) };
  return queryOptions({
    queryKey: oauthGrantApi.key(at, "page", values),
    queryFn: ({ signal }) => get<List<OAuthGrant>>(oauthGrantApi.url(at) + query(values), signal),
    refetchInterval: 5_000,
  });
}

/** Returns the address at which a user consents; it works once. */
export const authorize = (at: WorkspaceKey, id: string, body: AuthorizeOAuthClient): Promise<OAuthAuthorization> =>
  post(oauthClientApi.url(at, id, "/authorize"), body);

/**
 * Returns an address from which the person comes back to `return_url`, if the server allows that: it does not where the
 * dashboard is open at another address than the public one.
 */
export const authorizeAndReturn = (at: WorkspaceKey, id: string, return_url: string): Promise<OAuthAuthorization> =>
  authorize(at, id, { return_url }).catch((error: unknown) => {
    if (error instanceof ApiError && error.code === "origin_not_allowed") return authorize(at, id, {});
    throw error;
  });
