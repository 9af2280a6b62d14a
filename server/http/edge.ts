import { Elysia, ElysiaCustomStatusResponse, NotFoundError, ParseError } from "elysia";
import { AppError } from "../core/errors.ts";
import { newId } from "../core/ids.ts";
import { readOut } from "../lib/read-out.ts";
import { sseHeaders } from "../lib/sse.ts";
import { atOnce } from "./at-once.ts";
import type { Identify } from "./auth.ts";
import type { Cors } from "./cors.ts";
import { refuseDotSegments } from "./dot-segments.ts";
import { closes, errorBody, errorHeaders, type PublicUrl, toAppError } from "./errors.ts";
import { createRouteFinder, type Route } from "./find-routes.ts";
import type { TransportGate } from "./https-only.ts";
import { Replay, replayedHeader } from "./idempotency.ts";
import type { RateLimiter } from "./rate-limit.ts";
import { isTold, tell } from "./rate-limit-headers.ts";
import { refuseLargeHead } from "./refuse-large-head.ts";
import { appendRequestId, withRequestId } from "./response.ts";

interface EdgeOptions {
  /** Every route of the finished application: what is there, but not with this method, is a 405. */
  routes: () => readonly Route[];
  limiter: Pick<RateLimiter, "peekFailures">;
  publicUrl: PublicUrl;
  /** Who asks the API for what is not there: a stranger is not told. Absent where there is no API. */
  identify?: Identify;
  /** Absent where no page of another site is answered. */
  cors?: Pick<Cors, "begin">;
  /** Absent where requests come from memory and not from a socket. */
  gate?: TransportGate;
  /** Who is told of a bug; the client gets `internal_error` and the id. */
  onBug: (error: unknown, requestId: string) => void;
  /** Told of every response as it leaves; of a stream, as it begins. */
  onAnswered?: (answered: Answered, request: Request) => void;
  /** Told of the id that a client gave its request, so that both sides can find it in the log. */
  onClientId?: (clientId: string, requestId: string, request: Request) => void;
  now?: () => number;
}

/** A response, by what is known of it without its content. */
export interface Answered {
  method: string;
  /** The pattern of its route, such as `/v1/runs/:id`; null where there is none. */
  route: string | null;
  status: number;
  /** From the request's head to here, in milliseconds. */
  ms: number;
}

/**
 * What every response has, whoever made it: its id, safe headers, the contract's errors, `request_id` in JSON.
 * The root application uses this first and sets `normalize: false`, without which unknown fields would be dropped.
 */
export function createEdge({
  routes,
  limiter,
  publicUrl,
  identify,
  cors,
  gate,
  onBug,
  onAnswered,
  onClientId,
  now = Date.now,
}: EdgeOptions) {
  let findRoutes: ReturnType<typeof createRouteFinder> | undefined;
  const begun = new WeakMap<Request, number>();

  function answered(request: Request, route: string | null, status: unknown): void {
    const at = begun.get(request) ?? performance.now();
    onAnswered?.({ method: request.method, route, status: Number(status), ms: performance.now() - at }, request);
  }

  // What an address has left of its failed authentications, where no project counts the request.
  const tellOfAddress = (request: Request, headers: Record<string, unknown>): void =>
    tell(headers, limiter.peekFailures(gate?.clientOf(request) ?? "local"));

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
      atOnce(({ request, set }) => {
        if (onAnswered) begun.set(request, performance.now());
        set.headers["x-request-id"] = newId("request", now());
        set.headers["x-content-type-options"] = "nosniff";
        // Of the API a project counts each request, and where none did `onError` tells.
        if (!isApi(request.url) || request.method === "OPTIONS") tellOfAddress(request, set.headers);
        if (gate?.insists(request)) set.headers["strict-transport-security"] = "max-age=31536000";
        gate?.admit(request); // Before anybody reads the address, which may be none.
        refuseDotSegments(request);
        refuseLargeHead(request);
        const clientId = onClientId && request.headers.get("x-client-request-id");
        if (clientId) onClientId(clientId.slice(0, clientIdMax), String(set.headers["x-request-id"]), request);
        return cors?.begin(request, set.headers) ?? undefined;
      }),
    )
    .mapResponse(
      { as: "global" },
      atOnce(({ responseValue, request, route, set }) => {
        let body: unknown = responseValue;
        if (body instanceof ElysiaCustomStatusResponse) {
          set.status = body.code;
          body = body.response;
        }
        answered(request, route ?? null, body instanceof Response ? body.status : set.status);
        if (cors && body instanceof Response) varyByOrigin(body, set.headers);
        if (request.method === "HEAD" && isEventStream(body)) return headOf(body);
        // Given back as it is: without an answer of this hook the framework drops the text of a 404.
        if (typeof body === "string") return body as unknown as Response;
        if (typeof body !== "object" || body === null || !isPlain(body)) return undefined;
        set.headers["content-type"] = "application/json";
        set.headers["cache-control"] ??= "no-store";
        // A string and not a Response: the framework then builds the one Response, with all headers, once.
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
      const left = isLeft(request, refusal.cause);
      if (refusal.code === "internal_error" && !left) onBug(refusal.cause, requestId);
      if (!isTold(request)) tellOfAddress(request, set.headers); // This may have been one of them.
      Object.assign(set.headers, errorHeaders(refusal), jsonHeaders);
      set.status = left ? leftStatus : refusal.status;
      // What was begun is read to its end too. A body that nobody has looked at is passed over by the server itself.
      if (closes(refusal) || request.bodyUsed) await readOut(request);
      return withRequestId(errorBody(refusal, publicUrl), requestId);
    });
}

// As nginx counts them: no fault of the server.
const leftStatus = 499;

/** Whether work ended because its client went away, who reads no answer. */
const isLeft = ({ signal }: Request, error: unknown): boolean => signal.aborted && error === signal.reason;

const clientIdMax = 128;
const jsonHeaders = { "content-type": "application/json", "cache-control": "no-store" };

// What a hook threw before the body was parsed comes wrapped.
function replayIn(error: unknown): Replay | null {
  const thrown = error instanceof ParseError ? error.cause : error;
  return thrown instanceof Replay ? thrown : null;
}

// An unknown address, or a known one with another method.
function noRoute({ method }: Request, headers: Record<string, unknown>, methods: string[]): AppError {
  // It has a route and was not found all the same: a fragment, which no client sends, belongs to the path for the router.
  if (methods.length === 0 || methods.includes(method))
    return new AppError("resource_not_found", "There is no such address.");
  headers.allow = methods.join(", ");
  return new AppError("method_not_allowed", `This address accepts ${methods.join(", ")} only.`);
}

const isApi = (url: string): boolean => /^(https?:\/\/[^/]*)?\/v1(\/|\?|$)/.test(url);

const isEventStream = (body: unknown): body is Response =>
  body instanceof Response && body.headers.get("content-type") === sseHeaders["content-type"];

/**
 * Of an answer that has headers of its own, those win over what CORS has said. One that is stored varies also where no
 * page of another site has asked for it: such a page would be given it without the headers that let it read.
 */
function varyByOrigin({ headers }: Response, said: Record<string, unknown>): void {
  if (said.vary === undefined && headers.get("cache-control")?.includes("no-store")) return;
  const vary = headers.get("vary");
  if (!/(?:^|,)\s*(?:origin|\*)\s*(?:,|$)/i.test(vary ?? "")) headers.append("vary", "Origin");
}

/** Nobody reads what comes after the head, and the framework would count its bytes to the end, which may never come. */
function headOf(stream: Response): Response {
  void stream.body?.cancel();
  return new Response(null, { status: stream.status, headers: stream.headers });
}

const isPlain = (value: object): boolean => {
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null || Array.isArray(value);
};
