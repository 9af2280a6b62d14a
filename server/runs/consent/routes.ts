import { Elysia } from "elysia";
import { tooManyRequests } from "../../domain/error-messages.ts";
import { AppError } from "../../domain/errors.ts";
import { throwNotFound } from "../../domain/not-found.ts";
import type { HttpModule } from "../../http/create-http.ts";
import { errorHeaders, toAppError } from "../../http/errors.ts";
import { personPage, personPageHeaders } from "../../http/person-page.ts";
import type { Log } from "../../lib/log.ts";
import type { BrowserCookie } from "../../resources/oauth/browser-cookie.ts";
import type { ProjectsModule } from "../../resources/projects/module.ts";
import { consentPage } from "./consent-page.ts";
import type { Asked, Consents } from "./consents.ts";

interface Deps {
  consents: Consents;
  http: Pick<HttpModule, "limiter" | "clientOf">;
  projects: ProjectsModule;
  browsers: BrowserCookie;
  log: Log;
}

/**
 * The addresses that runs and programs show to users. A page says which account is connected for whom; its button ties
 * the consent to the browser and leads to the authorization server. Until then nothing begins, so that programs that look
 * at links do no harm, and that a link of somebody else is noticed.
 */
export function consentRoutes({ consents, http: { limiter, clientOf }, projects, browsers, log }: Deps) {
  /** Limits guessed addresses like guessed keys, without charging a project. */
  function open(token: string, request: Request): Asked {
    try {
      return consents.open(token);
    } catch (error) {
      // A right address whose run waits no more is no guess.
      if (toAppError(error).code !== "resource_not_found") throw error;
      const { accepted, retryAfter } = limiter.takeFailure(clientOf(request) ?? "local");
      throw accepted ? error : tooMany(retryAfter);
    }
  }

  async function show(token: string, request: Request): Promise<Response> {
    const asked = open(token, request);
    const { name, host } = (await consents.shown(asked)) ?? throwNotFound();
    const browser = browsers.read(request) ?? browsers.create();
    const project = projects.store.byId(asked.project_id).name;
    return consentPage({ name, host, project, userId: asked.userId }, browsers.header(browser));
  }

  async function begin(token: string, request: Request): Promise<Response> {
    const asked = open(token, request);
    const browser = browsers.read(request);
    // A form of another site brings no cookie, and its browser says where it is from.
    const from = request.headers.get("sec-fetch-site") ?? "same-origin";
    if (browser === null || from !== "same-origin") return personPage(noCookie, 400);
    const settings = projects.store.settingsOf(asked.project_id);
    const standing = limiter.take(asked, "writes_per_minute", settings);
    if (standing?.accepted === false) throw tooMany(standing.retryAfter);
    const location = await consents.begin(asked, browser);
    const { "content-type": _, ...headers } = personPageHeaders;
    return new Response(null, { status: 303, headers: { ...headers, ...browsers.header(browser), location } });
  }

  const orPage = (answer: Promise<Response>): Promise<Response> =>
    answer.catch((thrown: unknown) => {
      const error = toAppError(thrown);
      if (error.code === "internal_error") log.error("a user could not be sent to a consent", { error: thrown });
      return personPage(wordsOf(error), error.status, errorHeaders(error));
    });

  return new Elysia()
    .get("/oauth/consent/:token", ({ params: { token }, request }) => orPage(show(token, request)))
    .post("/oauth/consent/:token", ({ params: { token }, request }) => orPage(begin(token, request)), {
      parse: "none",
    });
}

const noCookie = {
  title: "Open the link again",
  text: "This page was opened from another site, or your browser keeps no cookies of this address. Nothing was connected.",
};

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

const tooMany = (retryAfter: number) => new AppError("rate_limited", tooManyRequests, { retryAfter });
