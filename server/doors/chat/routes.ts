import { type Static, Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { ChatPageStore, OpenPage } from "../../chat/store.ts";
import { AppError } from "../../core/errors.ts";
import { idPattern } from "../../core/ids.ts";
import { notFound } from "../../core/not-found.ts";
import type { Scope } from "../../core/scope.ts";
import { readJsonBody } from "../../http/json-body.ts";
import { originOf } from "../../http/own-origin.ts";
import type { RateLimiter } from "../../http/rate-limit.ts";
import { isSameSecret } from "../../lib/same-secret.ts";
import { exact } from "../../lib/schema.ts";
import type { Seal } from "../../lib/seal.ts";
import { chatPage } from "./page.ts";
import { visitorOf } from "./visitor.ts";

export interface ChatDoor {
  pages: Pick<ChatPageStore, "at">;
  tokenForPage(page: OpenPage, of: { user_id: string; is_visitor: boolean }): { token: string; expires_at: string };
  /** Who is signed in at the dashboard and may run agents; null: nobody. */
  memberOf(request: Request): { id: string } | null;
  newestThread(scope: Scope, user_id: string): string | null;
  seal: Seal;
  limiter: Pick<RateLimiter, "takeOf" | "takeFailure">;
  clientOf: (request: Request) => string | null;
}

/** In a minute and of one address: a chat needs few of them, and nobody takes them from other visitors. */
const most = { tokens: 120, newVisitors: 30 };

const params = Type.Object({ agent_id: Type.String({ pattern: idPattern("agent") }) });
const Asked = exact({ secret: Type.Optional(Type.String({ maxLength: 200 })) });

/** The page on which people talk with an agent, and the tokens that it gives them. */
export function chatRoutes({ pages, tokenForPage, memberOf, newestThread, seal, limiter, clientOf }: ChatDoor) {
  /** Throws 404 alike for a page that is not there and for a wrong link, and slows down whoever guesses. */
  function open(request: Request, agentId: string, { secret = "" }: Static<typeof Asked>): OpenPage {
    const found = pages.at(agentId);
    if (found && (found.page.access === "members" || isSameSecret(secret, found.secret))) return found.page;
    const { accepted, retryAfter } = limiter.takeFailure(clientOf(request) ?? "local");
    throw accepted ? notFound() : new AppError("rate_limited", "Too many wrong links.", { retryAfter });
  }

  function take(request: Request, what: keyof typeof most): void {
    const { accepted, retryAfter } = limiter.takeOf("address", clientOf(request) ?? "local", what, most[what]);
    if (!accepted) throw new AppError("rate_limited", "Too many requests.", { retryAfter });
  }

  /** Who talks there, and what makes the browser remember it. */
  function visit(request: Request, page: OpenPage): { user_id: string; is_visitor: boolean; cookie: string | null } {
    if (page.access === "members") {
      const member = memberOf(request);
      if (!member)
        throw new AppError("missing_session", "This chat is for people who are signed in and may run agents.");
      return { user_id: `${member.id}/${page.agent_id}`, is_visitor: false, cookie: null };
    }
    const visitor = visitorOf(request, seal, page.agent_id, originOf(request)?.startsWith("https:") ?? true);
    if (visitor.cookie) take(request, "newVisitors");
    return { ...visitor, is_visitor: true };
  }

  return new Elysia().get("/chat/:agent_id", chatPage).post(
    "/chat/:agent_id/token",
    ({ request, params: { agent_id }, body, set }) => {
      const origin = request.headers.get("origin");
      if (origin !== null && origin !== originOf(request))
        throw new AppError("cross_origin", "A chat page gives its tokens to itself alone.");
      const page = open(request, agent_id, body);
      take(request, "tokens");
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
