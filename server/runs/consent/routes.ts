import { Elysia } from "elysia";
import { tooManyRequests } from "../../domain/error-messages.ts";
import { AppError } from "../../domain/errors.ts";
import type { HttpModule } from "../../http/create-http.ts";
import type { ProjectsModule } from "../../resources/projects/module.ts";
import type { Consents } from "./consents.ts";

interface Deps {
  consents: Consents;
  http: Pick<HttpModule, "limiter" | "clientOf">;
  projects: ProjectsModule;
}

/** The addresses that runs show to their users: each leads to the authorization server that its run waits for. */
export function consentRoutes({ consents, http: { limiter, clientOf }, projects }: Deps) {
  /** Limits guessed addresses like guessed keys, without charging a project. */
  function open(token: string, request: Request) {
    try {
      return consents.open(token);
    } catch (error) {
      const { accepted, retryAfter } = limiter.takeFailure(clientOf(request) ?? "local");
      throw accepted ? error : tooMany(retryAfter);
    }
  }

  return new Elysia().get("/oauth/consent/:token", async ({ params: { token }, request }) => {
    const opened = open(token, request);
    const standing = limiter.take(opened.head, "writes_per_minute", projects.store.settingsOf(opened.head.project_id));
    if (standing?.accepted === false) throw tooMany(standing.retryAfter);
    return new Response(null, { status: 303, headers: { ...headers, location: await consents.begin(opened) } });
  });
}

/** The address is a permission: neither a cache nor the next page may learn it. */
const headers = { "cache-control": "no-store", "referrer-policy": "no-referrer" };

const tooMany = (retryAfter: number) => new AppError("rate_limited", tooManyRequests, { retryAfter });
