import { type Static, Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { tooManyRequests } from "../../domain/error-messages.ts";
import { AppError } from "../../domain/errors.ts";
import { idPattern } from "../../domain/ids.ts";
import { notFound } from "../../domain/not-found.ts";
import type { Scope } from "../../domain/scope.ts";
import { readJsonBody } from "../../http/json-body.ts";
import type { RateLimiter } from "../../http/rate-limit.ts";
import { requestOrigin } from "../../http/request-origin.ts";
import { randomToken } from "../../lib/random-token.ts";
import { isSameSecret } from "../../lib/same-secret.ts";
import { closedObject } from "../../lib/schema.ts";
import type { Seal } from "../../lib/seal.ts";
import type { ChatPageStore, OpenPage } from "../../resources/chat/store.ts";

export interface ChatProtocol {
  pages: ChatPageStore;
  tokenForPage(page: OpenPage, of: { user_id: string; is_visitor: boolean }): { token: string; expires_at: string };
  /** Returns the signed-in person if they may run agents, else null. */
  memberOf(request: Request): { id: string } | null;
  newestThread(scope: Scope, user_id: string): string | null;
  seal: Seal;
  limiter: RateLimiter;
  clientOf: (request: Request) => string | null;
}

/** Limits per minute and address, so that one visitor cannot use up those of others. */
const most = { tokens: 120, newVisitors: 30 };

const params = Type.Object({ agent_id: Type.String({ pattern: idPattern("agent") }) });
const Asked = closedObject({ secret: Type.Optional(Type.String({ maxLength: 200 })) });

/** Routes of chat pages: the page, and client tokens for its visitors. */
export function chatRoutes({ pages, tokenForPage, memberOf, newestThread, seal, limiter, clientOf }: ChatProtocol) {
  /** Throws the same 404 for an unknown page and for a wrong link. Throttles guesses. */
  function open(request: Request, agentId: string, { secret = "" }: Static<typeof Asked>): OpenPage {
    const found = pages.at(agentId);
    if (found && (found.page.access === "members" || isSameSecret(secret, found.secret))) return found.page;
    const { accepted, retryAfter } = limiter.takeFailure(clientOf(request) ?? "local");
    throw accepted ? notFound() : new AppError("rate_limited", "Too many wrong links.", { retryAfter });
  }

  function takeToken(request: Request, what: keyof typeof most): void {
    const { accepted, retryAfter } = limiter.takeOf("address", clientOf(request) ?? "local", what, most[what]);
    if (!accepted) throw new AppError("rate_limited", tooManyRequests, { retryAfter });
  }

  /** Returns the visitor and the cookie that remembers them. */
  function visit(request: Request, page: OpenPage): { user_id: string; is_visitor: boolean; cookie: string | null } {
    if (page.access === "members") {
      const member = memberOf(request);
      if (!member)
        throw new AppError("missing_session", "This chat is for people who are signed in and may run agents.");
      return { user_id: `${member.id}/${page.agent_id}`, is_visitor: false, cookie: null };
    }
    const visitor = visitorOf(request, seal, page.agent_id, requestOrigin(request)?.startsWith("https:") ?? true);
    if (visitor.cookie) takeToken(request, "newVisitors");
    return { ...visitor, is_visitor: true };
  }

  return new Elysia().get("/chat/:agent_id", chatPage).post(
    "/chat/:agent_id/token",
    ({ request, params: { agent_id }, body, set }) => {
      const origin = request.headers.get("origin");
      if (origin !== null && origin !== requestOrigin(request))
        throw new AppError("cross_origin", "A chat page gives its tokens to itself alone.");
      const page = open(request, agent_id, body);
      takeToken(request, "tokens");
      const { cookie, ...who } = visit(request, page);
      if (cookie) set.headers["set-cookie"] = cookie;
      return {
        ...tokenForPage(page, who),
        title: page.title,
        files: page.files ?? false,
        thread_id: newestThread(page, who.user_id),
      };
    },
    { parse: ({ request }) => readJsonBody(request), params, body: Asked },
  );
}

/** HTML of the page, the same for all agents. Its script reads the agent and the secret after the `#`. */
const pageHtml = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="robots" content="noindex" />
    <meta name="color-scheme" content="light dark" />
    <title>Chat</title>
    <link rel="icon" href="data:," />
    <link rel="stylesheet" href="/chat.css" />
    <script src="/chat.js" defer></script>
  </head>
  <body>
    <main id="chat">
      <noscript>This chat needs JavaScript.</noscript>
    </main>
  </body>
</html>
`;

const contentPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' blob: data:",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

const chatPage = (): Response =>
  new Response(pageHtml, {
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": contentPolicy,
      "cache-control": "no-cache",
      "referrer-policy": "no-referrer",
      "x-robots-tag": "noindex",
    },
  });

const visitorCookie = "runnel_visitor";
const month_seconds = 30 * 24 * 3600;

/** An anonymous visitor of a chat page: the same for a month in a browser that keeps the cookie. */
interface Visitor {
  user_id: string;
  /** Cookie to set; null if the browser has it. */
  cookie: string | null;
}

/**
 * Returns the visitor of an agent's page. The cookie is sealed and limited to that page, so a forged one is ignored.
 */
function visitorOf({ headers }: Request, seal: Seal, agentId: string, secure: boolean): Visitor {
  const context = `chat_visitor/${agentId}`;
  const [, sealedVisitor] =
    new RegExp(`(?:^|; *)${visitorCookie}=([\\w.-]{1,200})(?:;|$)`).exec(headers.get("cookie") ?? "") ?? [];
  if (sealedVisitor) {
    try {
      return { user_id: seal.open(sealedVisitor, context), cookie: null };
    } catch {} // The cookie was not made here: a new visitor.
  }
  const user_id = `visitor_${randomToken().slice(0, 24)}`;
  const attributes = `Path=/chat/${agentId}; HttpOnly; SameSite=Strict; Max-Age=${month_seconds}${secure ? "; Secure" : ""}`;
  return { user_id, cookie: `${visitorCookie}=${seal.seal(user_id, context)}; ${attributes}` };
}
