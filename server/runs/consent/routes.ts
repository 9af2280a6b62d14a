import { Elysia } from "elysia";
import { tooManyRequests } from "../../domain/error-messages.ts";
import { AppError } from "../../domain/errors.ts";
import type { HttpModule } from "../../http/create-http.ts";
import { errorHeaders, toAppError } from "../../http/errors.ts";
import { personPage } from "../../http/person-page.ts";
import type { Log } from "../../lib/log.ts";
import type { ProjectsModule } from "../../resources/projects/module.ts";
import type { Consents } from "./consents.ts";

interface Deps {
  consents: Consents;
  http: Pick<HttpModule, "limiter" | "clientOf">;
  projects: ProjectsModule;
  log: Log;
}

/** The addresses that runs show to their users: each leads to the authorization server that its run waits for. */
export function consentRoutes({ consents, http: { limiter, clientOf }, projects, log }: Deps) {
  /** Limits guessed addresses like guessed keys, without charging a project. */
  function open(token: string, request: Request) {
    try {
      return consents.open(token);
    } catch (error) {
      const { accepted, retryAfter } = limiter.takeFailure(clientOf(request) ?? "local");
      throw accepted ? error : tooMany(retryAfter);
    }
  }

  async function answer(token: string, request: Request): Promise<Response> {
    const opened = open(token, request);
    const standing = limiter.take(opened.head, "writes_per_minute", projects.store.settingsOf(opened.head.project_id));
    if (standing?.accepted === false) throw tooMany(standing.retryAfter);
    return new Response(null, { status: 303, headers: { ...headers, location: await consents.begin(opened) } });
  }

  return new Elysia().get("/oauth/consent/:token", ({ params: { token }, request }) =>
    answer(token, request).catch((thrown: unknown) => {
      const error = toAppError(thrown);
      if (error.code === "internal_error") log.error("a user could not be sent to a consent", { error: thrown });
      return personPage(wordsOf(error), error.status, errorHeaders(error));
    }),
  );
}

/** Text for a person instead of an error of the API. It says whether the same link may work later. */
function wordsOf({ code, message }: AppError): { title: string; text: string } {
  switch (code) {
    case "resource_not_found":
      return { title: "This link is not valid", text: "Check that you opened the whole link, or ask for a new one." };
    case "run_not_awaiting_action":
      return {
        title: "Nothing waits for this link any more",
        text: "The account is connected already, or the request has ended. You can close this window.",
      };
    case "rate_limited":
      return { title: "Too many requests", text: "Wait a minute, then open the link again." };
    case "internal_error":
      return { title: "Something went wrong", text: "Nothing was connected. Open the link again in a few minutes." };
    default:
      return { title: "The account cannot be connected now", text: `${message} Try again later.` };
  }
}

/** The address is a permission: neither a cache nor the next page may learn it. */
const headers = { "cache-control": "no-store", "referrer-policy": "no-referrer" };

const tooMany = (retryAfter: number) => new AppError("rate_limited", tooManyRequests, { retryAfter });
