import { Elysia } from "elysia";
import { OAuthAuthorization, OAuthClient, OAuthGrant } from "../../domain/api-types/oauth.ts";
import { Deleted, listOf } from "../../domain/api-types/schema.ts";
import { timestamp } from "../../domain/time.ts";
import type { Auth } from "../../http/auth.ts";
import { errorHeaders, toAppError } from "../../http/errors.ts";
import { listQuery, plainListQuery, readPage } from "../../http/page.ts";
import { personPage } from "../../http/person-page.ts";
import { pathOf } from "../../http/schemas.ts";
import type { Log } from "../../lib/log.ts";
import type { CallbackOutcome } from "../../runtime/oauth/callback-outcome.ts";
import type { Author } from "../../storage/db/audit.ts";
import type { AccessTokens } from "./access-tokens.ts";
import type { BrowserCookie } from "./browser-cookie.ts";
import { callbackResponse } from "./callback-page.ts";
import type { ClientStore } from "./client-store.ts";
import type { GrantStore } from "./grant-store.ts";
import { AuthorizeOAuthClient, CreateOAuthClient, grantFilters, UpdateOAuthClient } from "./schema.ts";

interface OAuthRoutes {
  auth: Auth;
  clients: ClientStore;
  grants: Pick<GrantStore, "get" | "list">;
  /** Deletes a grant and has its tokens revoked. */
  removeGrant(author: Author, id: string): Promise<{ id: string; object: "oauth_grant"; deleted: boolean }>;
  tokens: Pick<AccessTokens, "authorize">;
  /** Returns the address at which the user of a stored request consents. */
  consentUrl(state: string): string;
}

export const oauthClientRoutes = ({ auth, clients, tokens, consentUrl }: OAuthRoutes) =>
  new Elysia({ prefix: "/oauth_clients", tags: ["OAuth"] })
    .use(auth)
    .post("/", async ({ principal, body, status }) => status(201, await clients.create(principal, body)), {
      operation: {
        id: "oauth_clients.create",
        summary: "Create an OAuth client",
        needs: "admin",
        creates: OAuthClient,
        errors: ["url_not_allowed"],
        example: {
          name: "Calendar",
          grant: "authorization_code",
          per_user: true,
          issuer: "https://issuer.example",
          client_id: "runnel",
          client_secret: "the secret of the client",
          scopes: ["calendar.read"],
        },
      },
      body: CreateOAuthClient,
    })
    .get("/", ({ principal, request }) => clients.list(principal, readPage(request.url)), {
      operation: {
        id: "oauth_clients.list",
        summary: "List OAuth clients",
        needs: "read",
        query: listQuery,
        returns: listOf(OAuthClient),
      },
    })
    .get("/:id", ({ principal, params }) => clients.get(principal, params.id), {
      operation: {
        id: "oauth_clients.retrieve",
        summary: "Retrieve an OAuth client, without its secret",
        needs: "read",
        returns: OAuthClient,
      },
      params: pathOf("oauth_client"),
    })
    .patch("/:id", ({ principal, params, body }) => clients.update(principal, params.id, body), {
      operation: {
        id: "oauth_clients.update",
        summary: "Change an OAuth client; with another server or id, its grants end",
        needs: "admin",
        returns: OAuthClient,
        errors: ["url_not_allowed"],
        example: { scopes: ["calendar.read", "calendar.write"] },
      },
      params: pathOf("oauth_client"),
      body: UpdateOAuthClient,
    })
    .delete("/:id", ({ principal, params }) => clients.remove(principal, params.id), {
      operation: {
        id: "oauth_clients.delete",
        summary: "Delete an OAuth client, and revoke its tokens",
        needs: "admin",
        returns: Deleted,
      },
      params: pathOf("oauth_client"),
    })
    .post(
      "/:id/authorize",
      async ({ principal, params, body: { user_id = null, return_url } }) => {
        const request = { userId: user_id, ...(return_url !== undefined && { returnUrl: return_url }) };
        const { state, expiresAt } = await tokens.authorize(principal, params.id, request);
        return { url: consentUrl(state), expires_at: timestamp(expiresAt) };
      },
      {
        operation: {
          id: "oauth_clients.authorize",
          summary: "Get the address at which a user consents",
          needs: "run",
          returns: OAuthAuthorization,
          errors: ["oauth_server_failed", "origin_not_allowed", "url_not_allowed"],
          example: { user_id: "ada" },
        },
        params: pathOf("oauth_client"),
        body: AuthorizeOAuthClient,
      },
    );

export const oauthGrantRoutes = ({ auth, grants, removeGrant }: OAuthRoutes) =>
  new Elysia({ prefix: "/oauth_grants", tags: ["OAuth"] })
    .use(auth)
    .get("/", ({ principal, request }) => grants.list(principal, readPage(request.url, grantFilters)), {
      operation: {
        id: "oauth_grants.list",
        summary: "List OAuth grants",
        needs: "read",
        query: { ...plainListQuery, ...grantFilters },
        returns: listOf(OAuthGrant),
      },
    })
    .get("/:id", ({ principal, params }) => grants.get(principal, params.id), {
      operation: {
        id: "oauth_grants.retrieve",
        summary: "Retrieve an OAuth grant, without its tokens",
        needs: "read",
        returns: OAuthGrant,
      },
      params: pathOf("oauth_grant"),
    })
    .delete("/:id", ({ principal, params }) => removeGrant(principal, params.id), {
      operation: {
        id: "oauth_grants.delete",
        summary: "Delete an OAuth grant, and revoke its tokens",
        needs: "admin",
        returns: Deleted,
      },
      params: pathOf("oauth_grant"),
    });

/**
 * Where authorization servers send users back. It needs no key: the state is the permission, works once, and only with
 * the cookie of the browser that was sent there.
 */
export const oauthCallbackRoute = ({
  complete,
  browsers,
  log,
}: {
  complete(query: URLSearchParams, browser: string | null): Promise<CallbackOutcome>;
  browsers: BrowserCookie;
  log: Log;
}) =>
  new Elysia().get("/oauth/callback", ({ request }) =>
    // A HEAD request is no visit of the user, and must not use the state up.
    request.method === "GET"
      ? complete(new URL(request.url).searchParams, browsers.read(request))
          .then(callbackResponse)
          .catch((thrown: unknown) => {
            const error = toAppError(thrown);
            if (error.code === "internal_error") log.error("a consent could not be stored", { error: thrown });
            return personPage(notStored, error.status, errorHeaders(error));
          })
      : new Response(null, { status: 405, headers: { allow: "GET" } }),
  );

const notStored = { title: "Something went wrong", text: "The account may not be connected. Ask for a new link." };
