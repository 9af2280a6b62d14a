import { Elysia } from "elysia";
import { tooManyRequests } from "../../domain/error-messages.ts";
import { AppError } from "../../domain/errors.ts";
import { throwNotFound } from "../../domain/not-found.ts";
import type { HttpModule } from "../../http/create-http.ts";
import { errorHeaders, toAppError } from "../../http/errors.ts";
import { personPage, personPageHeaders } from "../../http/person-page.ts";
import type { Log } from "../../lib/log.ts";
import type { ConnectionConsents } from "../../resources/model-connections/connection-consents.ts";
import type { BrowserCookie } from "../../resources/oauth/browser-cookie.ts";
import type { ProjectsModule } from "../../resources/projects/module.ts";
import { connectionConsentPage, consentPage } from "./consent-page.ts";
import type { Asked, Consents } from "./consents.ts";

interface Deps {
  consents: Consents;
  /** Consents to model connections. */
  connections: Pick<ConnectionConsents, "isState" | "shown" | "send">;
  http: Pick<HttpModule, "limiter" | "clientOf">;
  projects: ProjectsModule;
  browsers: BrowserCookie;
  log: Log;
}

/**
 * The addresses that runs and programs show to users. A page says which account is connected for whom; its button ties
 * the consent to the browser and leads to the authorization server. Until then nothing begins, so that programs that look
 * at links do no harm, and that the user notices a link that another person sent.
 */
export function consentRoutes({ consents, connections, http: { limiter, clientOf }, projects, browsers, log }: Deps) {
  /** Limits guessed addresses like guessed keys, without charging a project. */
  async function limitGuesses<T>(request: Request, look: () => T | Promise<T>): Promise<T> {
    try {
      return await look();
    } catch (error) {
      // A right address whose run waits no more is no guess.
      if (toAppError(error).code !== "resource_not_found") throw error;
      const { accepted, retryAfter } = limiter.takeFailure(clientOf(request) ?? "local");
      throw accepted ? error : tooMany(retryAfter);
    }
  }

  const open = (token: string, request: Request): Promise<Asked> => limitGuesses(request, () => consents.open(token));

  async function show(token: string, request: Request): Promise<Response> {
    const headers = browsers.header(browsers.read(request) ?? browsers.create(), request);
    if (connections.isState(token)) {
      const shown = await limitGuesses(request, async () => (await connections.shown(token)) ?? throwNotFound());
      return connectionConsentPage(shown, headers);
    }
    const asked = await open(token, request);
    const { name, host } = (await consents.shown(asked)) ?? throwNotFound();
    const project = projects.store.byId(asked.project_id).name;
    return consentPage({ name, host, project, userId: asked.userId }, headers);
  }

  async function begin(token: string, request: Request): Promise<Response> {
    const asked = connections.isState(token) ? null : await open(token, request);
    const browser = browsers.read(request);
    // A form of another site brings no cookie, and its browser says where it is from.
    const from = request.headers.get("sec-fetch-site") ?? "same-origin";
    if (browser === null || from !== "same-origin") return personPage(noCookie, 400);
    const location = await (asked ? beginOf(asked, browser) : beginOfConnection(token, browser, request));
    const { "content-type": _, ...headers } = personPageHeaders;
    return new Response(null, { status: 303, headers: { ...headers, ...browsers.header(browser, request), location } });
  }

  async function beginOf(asked: Asked, browser: string): Promise<string> {
    const settings = projects.store.settingsOf(asked.project_id);
    const standing = limiter.take(asked, "writes_per_minute", settings);
    if (standing?.accepted === false) throw tooMany(standing.retryAfter);
    return await consents.begin(asked, browser);
  }

  const beginOfConnection = (state: string, browser: string, request: Request): Promise<string> =>
    limitGuesses(request, async () => (await connections.send(state, browser)) ?? throwNotFound());

  const orPage = (answer: Promise<Response>): Promise<Response> =>
    answer.catch((thrown: unknown) => {
      const error = toAppError(thrown);
      if (error.code === "internal_error") log.error("a user could not be sent to a consent", { error: thrown });
      return personPage(wordsOf(error), error.status, errorHeaders(error));
    });

  return new Elysia()
    .get("/oauth/consent/:token", ({ params, request }) => orPage(show(tokenOf(params), request)))
    .post("/oauth/consent/:token", ({ params, request }) => orPage(begin(tokenOf(params), request)), {
      parse: "none",
    });
}

/** Elysia's parameter is null if its percent-encoding is no UTF-8, against its type. */
const tokenOf = ({ token }: { token: string | null }): string => token ?? "";

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
