import { Elysia, ElysiaCustomStatusResponse, NotFoundError, ParseError } from "elysia";
import { noSuch } from "../domain/error-messages.ts";
import { AppError } from "../domain/errors.ts";
import { newId } from "../domain/ids.ts";
import { drainBody } from "../lib/drain-body.ts";
import { sseHeaders } from "../lib/sse.ts";
import type { Identify } from "./auth.ts";
import type { Cors } from "./cors.ts";
import { refuseDotSegments } from "./dot-segments.ts";
import { closesConnection, errorBody, errorHeaders, type PublicUrl, toAppError } from "./errors.ts";
import { createRouteFinder, type Route } from "./find-routes.ts";
import { limitHeaderSize } from "./header-size-limit.ts";
import type { TransportGate } from "./https-only.ts";
import { Replay, replayedHeader } from "./idempotency.ts";
import type { RateLimiter } from "./rate-limit.ts";
import { hasRateLimitHeaders, writeRateLimitHeaders } from "./rate-limit-headers.ts";
import { appendRequestId, withRequestId } from "./response.ts";
import { syncHook } from "./sync-hook.ts";

interface ResponseFinalizerOptions {
  /** All routes of the finished application, to return 405 for a known path with another method. */
  routes: () => readonly Route[];
  limiter: RateLimiter;
  publicUrl: PublicUrl;
  /** Authenticates requests to unknown API paths, so that strangers get 401. Absent without an API. */
  identify?: Identify;
  /** Absent if no cross-origin requests are served. */
  cors?: Cors;
  /** Absent if requests come from memory instead of a socket. */
  gate?: TransportGate;
  /** Called with the error behind an `internal_error`. */
  onBug: (error: unknown, requestId: string) => void;
  /** Called with every response as it is sent; for a stream, as it begins. */
  /** Called when a request begins. */
  onBegun?: () => void;
  onAnswered?: (reportAnswer: ResponseFacts, request: Request) => void;
  /** Called with a client's own request id, so that it can be found in the log. */
  onClientId?: (clientId: string, requestId: string, request: Request) => void;
  now?: () => number;
}

/** Metadata of a response. */
export interface ResponseFacts {
  method: string;
  /** Pattern of the route, such as `/v1/runs/:id`; null if there is none. */
  route: string | null;
  status: number;
  /** Milliseconds since the request's headers arrived. */
  ms: number;
}

/**
 * Finishes every response: request id, security headers, errors in the API's format, `request_id` in JSON. Must be the
 * first plugin of the root application, which must set `normalize: false`, or unknown fields would be dropped.
 */
export function createResponseFinalizer({
  routes,
  limiter,
  publicUrl,
  identify,
  cors,
  gate,
  onBug,
  onBegun,
  onAnswered,
  onClientId,
  now = Date.now,
}: ResponseFinalizerOptions) {
  let findRoutes: ReturnType<typeof createRouteFinder> | undefined;
  const startTimes = new WeakMap<Request, number>();

  function reportAnswer(request: Request, route: string | null, status: unknown): void {
    const at = startTimes.get(request) ?? performance.now();
    onAnswered?.({ method: request.method, route, status: Number(status), ms: performance.now() - at }, request);
  }

  // Sets the rate limit headers of the address's failed authentications, for requests that no project counts.
  const tellOfAddress = (request: Request, headers: Record<string, unknown>): void =>
    writeRateLimitHeaders(headers, limiter.peekFailures(gate?.clientOf(request) ?? "local"));

  function refusalOf(error: unknown, request: Request, headers: Record<string, unknown>): AppError {
    if (!(error instanceof NotFoundError)) return toAppError(error);
    try {
      if (isApi(request.url)) identify?.(request, headers);
    } catch (refused) {
      return toAppError(refused);
    }
    findRoutes ??= createRouteFinder(routes());
    const found = findRoutes(new URL(request.url).pathname);
    return noRoute(request, headers, [...new Set(found.map(({ method }) => method))].sort());
  }

  return new Elysia({ name: "edge" })
    .onRequest(
      syncHook(({ request, set }) => {
        onBegun?.();
        if (onAnswered) startTimes.set(request, performance.now());
        set.headers["x-request-id"] = newId("request", now());
        set.headers["x-content-type-options"] = "nosniff";
        // API requests are counted per project; if none was, `onError` sets the headers.
        if (!isApi(request.url) || request.method === "OPTIONS") tellOfAddress(request, set.headers);
        if (gate?.shouldSendHsts(request)) set.headers["strict-transport-security"] = "max-age=31536000";
        gate?.admit(request); // First, because the URL may be invalid.
        refuseDotSegments(request);
        limitHeaderSize(request);
        const clientId = onClientId && request.headers.get("x-client-request-id");
        if (clientId) onClientId(clientId.slice(0, clientIdMax), String(set.headers["x-request-id"]), request);
        return cors?.begin(request, set.headers) ?? undefined;
      }),
    )
    .mapResponse(
      { as: "global" },
      syncHook(({ responseValue, request, route, set }) => {
        let body: unknown = responseValue;
        if (body instanceof ElysiaCustomStatusResponse) {
          set.status = body.code;
          body = body.response;
        }
        reportAnswer(request, route ?? null, body instanceof Response ? body.status : set.status);
        if (cors && body instanceof Response) varyByOrigin(body, set.headers);
        if (request.method === "HEAD" && isEventStream(body)) return headOf(body);
        // Returned explicitly: otherwise Elysia drops the text of a 404.
        if (typeof body === "string") return body as unknown as Response;
        if (typeof body !== "object" || body === null || !isPlain(body)) return undefined;
        set.headers["content-type"] = "application/json";
        set.headers["cache-control"] ??= "no-store";
        // A string instead of a Response, so that Elysia builds the only Response, with all headers.
        return withRequestId(body, String(set.headers["x-request-id"])) as unknown as Response;
      }),
    )
    .onError({ as: "global" }, async ({ error, request, set }) => {
      const requestId = String(set.headers["x-request-id"]);
      const replay = replayIn(error);
      if (replay) {
        set.status = replay.status;
        Object.assign(set.headers, jsonHeaders, replayedHeader, replay.location && { location: replay.location });
        return appendRequestId(replay.body, requestId);
      }
      const refusal = refusalOf(error, request, set.headers);
      const clientLeft = isLeft(request, refusal.cause);
      if (refusal.code === "internal_error" && !clientLeft) onBug(refusal.cause, requestId);
      if (!hasRateLimitHeaders(request)) tellOfAddress(request, set.headers); // This may have been a failed authentication.
      Object.assign(set.headers, errorHeaders(refusal), jsonHeaders);
      set.status = clientLeft ? leftStatus : refusal.status;
      // Drain a body that was partly read. The server itself skips a body that was never read.
      if (closesConnection(refusal) || request.bodyUsed) await drainBody(request);
      return withRequestId(errorBody(refusal, publicUrl), requestId);
    });
}

// Status that nginx logs for a closed connection: not an error of the server.
const leftStatus = 499;

/** True if the work ended because the client disconnected. */
const isLeft = ({ signal }: Request, error: unknown): boolean => signal.aborted && error === signal.reason;

const clientIdMax = 128;
const jsonHeaders = { "content-type": "application/json", "cache-control": "no-store" };

// An error that a hook threw before parsing is wrapped.
function replayIn(error: unknown): Replay | null {
  const thrown = error instanceof ParseError ? error.cause : error;
  return thrown instanceof Replay ? thrown : null;
}

// Error for an unknown path (404), or for a known one with another method (405).
function noRoute({ method }: Request, headers: Record<string, unknown>, methods: string[]): AppError {
  // A route matches, but the request was not routed: the router treats a fragment as part of the path.
  if (methods.length === 0 || methods.includes(method)) return new AppError("resource_not_found", noSuch("address"));
  headers.allow = methods.join(", ");
  return new AppError("method_not_allowed", `This address accepts ${methods.join(", ")} only.`);
}

const isApi = (url: string): boolean => /^(https?:\/\/[^/]*)?\/v1(\/|\?|$)/.test(url);

const isEventStream = (body: unknown): body is Response =>
  body instanceof Response && body.headers.get("content-type") === sseHeaders["content-type"];

/**
 * Adds `Vary: Origin` to a Response, whose own headers override those of CORS. Cacheable responses need it even for
 * same-origin requests: a cross-origin page would later get the cached copy without CORS headers.
 */
function varyByOrigin({ headers }: Response, currentHeaders: Record<string, unknown>): void {
  if (currentHeaders.vary === undefined && headers.get("cache-control")?.includes("no-store")) return;
  const vary = headers.get("vary");
  if (!/(?:^|,)\s*(?:origin|\*)\s*(?:,|$)/i.test(vary ?? "")) headers.append("vary", "Origin");
}

/** Cancels the body for HEAD; otherwise Elysia would read it to its end, which for a stream may never come. */
function headOf(stream: Response): Response {
  void stream.body?.cancel();
  return new Response(null, { status: stream.status, headers: stream.headers });
}

const isPlain = (value: object): boolean => {
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null || Array.isArray(value);
};
