import { Elysia } from "elysia";
import { booleanExpected, noSuch, tooManyRequests } from "../../domain/error-messages.ts";
import { AppError } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import { fault, invalid, throwIfInvalid } from "../../http/errors.ts";
import { readJsonBody } from "../../http/json-body.ts";
import { withDeclaration } from "../../http/operation.ts";
import type { RateLimiter, RateLimits } from "../../http/rate-limit.ts";
import { setRateLimitHeaders } from "../../http/rate-limit-headers.ts";
import { isObject } from "../../lib/json.ts";
import type { CallbackAnswer, Callbacks } from "./service.ts";

interface CallbackRoutes {
  callbacks: Callbacks;
  limiter: RateLimiter;
  limitsOf(scope: Scope): Partial<RateLimits>;
  clientOf(request: Request): string | null;
}

/** Routes for results of webhook tools. The URL is the permission: the webhook got it for one call. */
export function callbackRoutes({ callbacks, limiter, limitsOf, clientOf }: CallbackRoutes) {
  /** Limits guessed URLs like guessed keys, without charging a project. */
  function open(token: string, request: Request) {
    try {
      return callbacks.open(token);
    } catch (error) {
      const { accepted, retryAfter } = limiter.takeFailure(clientOf(request) ?? "local");
      throw accepted ? error : tooMany(retryAfter);
    }
  }

  return new Elysia().post(
    "/callbacks/:token",
    async ({ params: { token }, request, set, status }) => {
      const opened = open(token, request);
      const standing = limiter.take(opened.head, "writes_per_minute", limitsOf(opened.head));
      setRateLimitHeaders(request, set.headers, standing);
      if (standing?.accepted === false) throw tooMany(standing.retryAfter);
      const result = await callbacks.take(opened, readAnswer(await readJsonBody(request)));
      const answer = { object: "tool_callback", tool_call_id: opened.callId, status: result };
      return status(result === "taken" ? 200 : 202, answer);
    },
    { parse: "none", ...withDeclaration({ needsRoom: false }) },
  );
}

const tooMany = (retryAfter: number) => new AppError("rate_limited", tooManyRequests, { retryAfter });

function readAnswer(body: unknown): CallbackAnswer {
  if (!isObject(body) || !("output" in body))
    throw invalid("output", "Must be the output of the call, which may be any JSON.", "required");
  const { output, is_error = false, ...others } = body;
  const unknown = Object.keys(others).map((name) => fault(name, noSuch("parameter"), "unknown_parameter"));
  throwIfInvalid(unknown);
  if (typeof is_error !== "boolean") throw invalid("is_error", booleanExpected);
  return { output, ...(is_error && { is_error }) };
}
