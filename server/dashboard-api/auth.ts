import { AppError } from "../domain/errors.ts";
import { notFound, throwNotFound } from "../domain/not-found.ts";
import { environments } from "../domain/scope.ts";
import { type Auth, type Authenticate, createAuth, createIdentify, type OnRefused } from "../http/auth.ts";
import type { Idempotency } from "../http/idempotency.ts";
import type { RateLimiter } from "../http/rate-limit.ts";
import type { ProjectStore } from "../resources/projects/store.ts";
import { scopesOf } from "./role.ts";
import { requireSameOrigin } from "./same-origin.ts";
import type { SessionCookie } from "./session-cookie.ts";
import type { Sessions } from "./sessions.ts";
import type { Setup } from "./setup.ts";

interface SessionAuthDeps {
  sessions: Sessions;
  cookie: SessionCookie;
  setup: Setup;
  projects: ProjectStore;
  limiter: RateLimiter;
  clientOf: (request: Request) => string | null;
  idempotency?: Idempotency;
  onRefused?: OnRefused;
}

/** Authenticates people by session for the project and environment in the path. API keys are not accepted here. */
export function createSessionAuth({ idempotency, onRefused, ...deps }: SessionAuthDeps): Auth {
  const authenticate = createSessionAuthenticate(deps);
  const identify = createIdentify({ authenticate, limiter: deps.limiter, clientOf: deps.clientOf });
  return createAuth("console", { identify, authenticate, idempotency, onRefused });
}

function createSessionAuthenticate({
  sessions,
  cookie,
  setup,
  projects,
}: Pick<SessionAuthDeps, "sessions" | "cookie" | "setup" | "projects">): Authenticate {
  return (request) => {
    requireSameOrigin(request);
    const user = sessions.use(cookie.read(request), request);
    if (!user) throw missingSession(setup.required());
    const [, projectId = "", name = ""] = /^\/console\/api\/([^/]+)\/([^/]+)/.exec(new URL(request.url).pathname) ?? [];
    const environment = environments.find((known) => known === name) ?? throwNotFound();
    const { id, settings, archived_at_ms } = projects.byId(projectId);
    if (archived_at_ms !== null) throw notFound();
    // Reads by people must not use up the read limit of the project's keys.
    const limits = { ...settings, reads_per_minute: 0 };
    const scopes = scopesOf(user.role);
    const operator = user.role === "owner";
    return { kind: "user", id: user.id, project_id: id, environment, scopes, agent_ids: null, limits, operator };
  };
}

export const missingSession = (setup_required: boolean): AppError =>
  new AppError("missing_session", "Sign in first.", { details: { setup_required } });
