import { Elysia } from "elysia";
import { ApiKey, ClientToken, Me, RotatedApiKey } from "../../domain/api-types/key.ts";
import { Deleted, listOf } from "../../domain/api-types/schema.ts";
import { limits } from "../../domain/limits.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Auth } from "../../http/auth.ts";
import { listQuery, readPage } from "../../http/page.ts";
import type { Principal } from "../../http/principal.ts";
import { type Bucket, buckets, type RateLimiter } from "../../http/rate-limit.ts";
import { pathOf } from "../../http/schemas.ts";
import type { ClientTokens } from "./client-tokens.ts";
import { CreateClientToken, CreateKey, RotateKey, UpdateKey } from "./schema.ts";
import type { KeyStore } from "./store.ts";
import { validateCreation, validateUpdate } from "./validate.ts";

export const keyRoutes = ({ auth, keys }: { auth: Auth; keys: KeyStore }) => {
  const params = pathOf("api_key");
  return new Elysia({ prefix: "/api_keys", tags: ["API keys"] })
    .use(auth)
    .post(
      "/",
      async ({ principal, body, status }) => {
        validateCreation(body);
        return status(201, await keys.create(principal, body));
      },
      {
        operation: {
          id: "api_keys.create",
          summary: "Create an API key",
          needs: "admin",
          creates: ApiKey,
        },
        body: CreateKey,
      },
    )
    .get("/", ({ principal, request }) => keys.list(principal, readPage(request.url)), {
      operation: {
        id: "api_keys.list",
        summary: "List API keys",
        needs: "admin",
        viewers: true,
        query: listQuery,
        returns: listOf(ApiKey),
      },
    })
    .get("/:id", ({ principal, params: { id } }) => keys.get(principal, id), {
      operation: {
        id: "api_keys.retrieve",
        summary: "Retrieve an API key",
        needs: "admin",
        viewers: true,
        returns: ApiKey,
      },
      params,
    })
    .patch(
      "/:id",
      ({ principal, params: { id }, body }) => {
        validateUpdate(body);
        return keys.update(principal, id, body);
      },
      {
        operation: {
          id: "api_keys.update",
          summary: "Rename an API key, or say when it ends",
          needs: "admin",
          needsRoom: false,
          returns: ApiKey,
          errors: ["key_not_active", "last_admin_key"],
        },
        params,
        body: UpdateKey,
      },
    )
    .post(
      "/:id/rotate",
      async ({ principal, params: { id }, body, status }) => status(201, await keys.rotate(principal, id, body)),
      {
        operation: {
          id: "api_keys.rotate",
          summary: "Rotate an API key; until the overlap ends both keys are good",
          needs: "admin",
          needsRoom: false,
          creates: RotatedApiKey,
          errors: ["key_not_active"],
        },
        params,
        body: RotateKey,
      },
    )
    .delete("/:id", ({ principal, params: { id } }) => keys.revoke(principal, id), {
      operation: {
        id: "api_keys.revoke",
        summary: "Revoke an API key",
        needs: "admin",
        returns: Deleted,
        errors: ["last_admin_key"],
      },
      params,
    });
};

/** `POST /v1/client_tokens`. */
export const clientTokenRoutes = ({ auth, tokens }: { auth: Auth; tokens: ClientTokens }) =>
  new Elysia({ tags: ["API keys"] })
    .use(auth)
    .post("/client_tokens", ({ principal, body, status }) => status(201, tokens.create(principal, body)), {
      operation: {
        id: "client_tokens.create",
        summary: "Create a client token, for a browser",
        needs: "read_or_run",
        needsRoom: false,
        creates: ClientToken,
        errors: ["resource_not_found", "agent_ambiguous"],
      },
      body: CreateClientToken,
    });

export interface MeOptions {
  auth: Auth;
  keys: KeyStore;
  limiter: RateLimiter;
  projects: { byId(id: string): { name: string } };
  /** Limits and number of runs in progress. */
  runs: {
    limit: (principal: Principal) => number;
    inProgress: (scope: Scope) => number;
    childrenMax: (scope: Scope) => number;
  };
}

/** `GET /v1/me`: the key's identity and remaining limits. */
export const meRoutes = ({ auth, keys, limiter, projects, runs }: MeOptions) =>
  new Elysia({ tags: ["Account"] }).use(auth).get(
    "/me",
    ({ principal }) => {
      const limit = runs.limit(principal);
      return {
        object: "me",
        id: principal.id,
        scopes: [...principal.scopes],
        project_id: principal.project_id,
        project: projects.byId(principal.project_id).name,
        environment: principal.environment,
        agent_ids: principal.agent_ids,
        key: standingOf(keys, principal),
        limits,
        rate_limits: Object.fromEntries(buckets.map((bucket) => [bucket, rateLimitStatus(limiter, principal, bucket)])),
        runs_in_progress: limit === 0 ? null : { limit, remaining: Math.max(0, limit - runs.inProgress(principal)) },
        children_per_run: runs.childrenMax(principal) || null,
      };
    },
    {
      operation: {
        id: "me.retrieve",
        summary: "Retrieve your API key, and what is left of its limits",
        needs: "read_or_run",
        returns: Me,
      },
    },
  );

/** Rotation state of the key; null for a dashboard user. */
function standingOf(keys: KeyStore, principal: Principal) {
  if (principal.kind === "user") return null;
  const { name, status, expires_at, rotated_to, exposed_at } = keys.get(principal, principal.id);
  return { name, status, expires_at, rotated_to, exposed_at };
}

function rateLimitStatus(limiter: RateLimiter, principal: Principal, bucket: Bucket) {
  const limitStatus = limiter.peek(principal, bucket, principal.limits);
  return limitStatus && { limit: limitStatus.limit, remaining: limitStatus.remaining, reset: limitStatus.reset };
}
