import { Elysia } from "elysia";
import { AppError, type Fault } from "../core/errors.ts";
import { idPattern } from "../core/ids.ts";
import { limits } from "../core/limits.ts";
import type { Scope } from "../core/scope.ts";
import type { Auth, Principal } from "../http/auth.ts";
import { fault, validationError } from "../http/errors.ts";
import { pageParameters, readPage } from "../http/page.ts";
import { type Bucket, type RateLimiter, rateLimits } from "../http/rate-limit.ts";
import { pathOf } from "../http/schemas.ts";
import { parseCidr } from "../lib/ip-address.ts";
import { CreateKey } from "./schema.ts";
import type { KeyStore } from "./store.ts";

export const keyRoutes = ({ auth, keys }: { auth: Auth; keys: KeyStore }) =>
  new Elysia({ prefix: "/api_keys" })
    .use(auth)
    .post(
      "/",
      async ({ principal, body, status }) => {
        checkCreation(principal, body);
        return status(201, await keys.create(principal, body, principal.id));
      },
      { permission: "admin", body: CreateKey },
    )
    .get("/", ({ principal, request }) => keys.list(principal, readPage(request.url)), {
      permission: { needs: "admin", query: pageParameters },
    })
    .get("/:id", ({ principal, params }) => keys.get(principal, params.id), {
      permission: "admin",
      params: pathOf("api_key"),
    })
    .delete("/:id", ({ principal, params }) => keys.revoke(principal, params.id), {
      permission: "admin",
      params: pathOf("api_key"),
    });

const isAgentId = new RegExp(idPattern("agent"));

// A key that made a stronger one would be that stronger one.
function checkCreation({ scopes, agent_ids }: Principal, input: CreateKey): void {
  const wrong = [...agentFaults(input), ...cidrFaults(input)];
  if (wrong.length > 0) throw validationError(wrong);
  const more = input.scopes.find((scope) => !scopes.has("admin") && !scopes.has(scope));
  if (more || (agent_ids && !input.agent_ids?.every((id) => agent_ids.includes(id))))
    throw new AppError("insufficient_scope", "A key cannot make one that may do more than itself.", {
      details: { required_scope: more ?? "admin" },
    });
}

function agentFaults({ agent_ids }: CreateKey): Fault[] {
  return (agent_ids ?? []).flatMap((id, index) =>
    isAgentId.test(id) ? [] : [fault(`agent_ids[${index}]`, "Expected the id of an agent: agt_ and 26 characters.")],
  );
}

const cidrFaults = ({ allowed_cidrs }: CreateKey): Fault[] =>
  (allowed_cidrs ?? []).flatMap((text, index) =>
    parseCidr(text) ? [] : [fault(`allowed_cidrs[${index}]`, "Expected a network such as 203.0.113.0/24.")],
  );

export interface MeOptions {
  auth: Auth;
  limiter: RateLimiter;
  projects: { byId(id: string): { name: string } };
  /** How many runs may be in progress at once, and how many are. */
  runs: { limit: (principal: Principal) => number; inProgress: (scope: Scope) => number };
}

/** `GET /v1/me`: who this key is, and what is left of its limits. */
export const meRoutes = ({ auth, limiter, projects, runs }: MeOptions) =>
  new Elysia().use(auth).get(
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
        limits,
        rate_limits: Object.fromEntries(
          (Object.keys(rateLimits) as Bucket[]).map((bucket) => [bucket, left(limiter, principal, bucket)]),
        ),
        runs_in_progress: limit === 0 ? null : { limit, remaining: Math.max(0, limit - runs.inProgress(principal)) },
      };
    },
    { permission: "read_or_run" },
  );

function left(limiter: RateLimiter, principal: Principal, bucket: Bucket) {
  const standing = limiter.peek(principal, bucket, principal.limits);
  return standing && { limit: standing.limit, remaining: standing.remaining, reset: standing.reset };
}
