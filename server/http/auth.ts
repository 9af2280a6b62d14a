import { Elysia } from "elysia";
import { repeatedParameter, tooManyRequests, unknownParameter } from "../domain/error-messages.ts";
import { AppError, type Fault } from "../domain/errors.ts";
import { notFound } from "../domain/not-found.ts";
import { type ClientScope, nameOf, type Permission, type Scope } from "../domain/scope.ts";
import { entryOf } from "../lib/collections.ts";
import type { Actor } from "../storage/db/audit.ts";
import { cachedQuery } from "./cached-query.ts";
import type { Cors } from "./cors.ts";
import { fault, validationError } from "./errors.ts";
import type { Idempotency } from "./idempotency.ts";
import { parseJsonBody, readBody, refuseBody } from "./json-body.ts";
import { type Access, type BodyReader, type Operation, type RequiredPermission, withDeclaration } from "./operation.ts";
import type { Bounds, ClientToken, Identity, Principal } from "./principal.ts";
import type { Bucket, BucketState, RateLimiter, RateWindow } from "./rate-limit.ts";
import { setRateLimitHeaders } from "./rate-limit-headers.ts";
import type { RequestQueue } from "./request-queue.ts";
import type { Condition } from "./row-filter.ts";

/** Returns the caller's identity or throws 401. Synchronous, because all it reads is in this process. */
export type Authenticate = (request: Request) => Identity;

/**
 * Returns the error if the caller's access has ended since the request was admitted, else null. Open streams check
 * repeatedly.
 */
export type NoLongerValid = (principal: Principal, request: Request) => AppError | null;

/** The permission that a refused caller lacked, and the request. */
export interface Refusal {
  required: { required_scope: Permission | ClientScope } | { required_role: string } | { bound_by: string };
  request: Request;
}

/** Called on every 403. `scope` is null for server-wide routes. */
export type OnRefused = (actor: Actor, scope: Scope | null, refusal: Refusal) => void;

export type Auth = ReturnType<typeof createAuth>;

// Shared by all plugins: a request has one principal, whichever protocol it used.
const principals = new WeakMap<Request, Principal>();
const principalOf = (request: Request): Principal => entryOf(principals, request);

/** Returns the principal of a request and counts the request against its rate limits. */
export type Identify = ReturnType<typeof createIdentify>;

export function createIdentify({
  authenticate,
  limiter,
  cors,
  clientOf = () => null,
}: {
  authenticate: Authenticate;
  limiter: RateLimiter;
  /** Absent if no cross-origin requests are served. */
  cors?: Cors;
  /** Client address of a request; absent if there is no socket. */
  clientOf?: (request: Request) => string | null;
}) {
  // Read the address now: once the request was answered, its socket has none.
  const actorOf = ({ kind, id, token }: Identity, request: Request, headers: Headers): Actor => ({
    type: kind === "key" && token?.person === undefined ? "api_key" : "user",
    id: token?.person ?? id,
    ip: clientOf(request),
    request_id: String(headers["x-request-id"] ?? "") || null,
  });

  /**
   * Throws 401, 403 (a token used on an origin that is not allowed, or a visitor's token where visitors may not call)
   * or 429.
   */
  return (request: Request, headers: Headers, bucket: Bucket = bucketOf(request), visitors = false): Principal => {
    const identity = authenticate(request);
    const principal = { ...identity, actor: actorOf(identity, request, headers) };
    principals.set(request, principal);
    cors?.settle(principal, request, headers);
    if (principal.token?.is_visitor && !visitors)
      throw new AppError("insufficient_scope", "A visitor of a chat page may not ask for this.");
    count(limiter, principal, bucket, (bucketState) => setRateLimitHeaders(request, headers, bucketState));
    return principal;
  };
}

/** Counts a request; throws 429 if a limit is exceeded. */
function count(
  limiter: RateLimiter,
  principal: Principal,
  bucket: Bucket,
  onState: (standing: BucketState | null) => void,
): void {
  if (principal.token) limitToken(limiter, principal.token, bucket);
  const standing = limiter.take(principal, bucket, principal.limits, principal.token?.page);
  onState(standing);
  if (standing?.accepted === false) throw rateLimited(standing);
}

/**
 * Throws 429 before the project's own limit is charged, so that a token over its limit uses up nothing of other
 * clients.
 */
function limitToken({ takeOf }: RateLimiter, { shares }: ClientToken, bucket: Bucket): void {
  for (const { of, name, limits, runsBefore } of shares) {
    const takeShare = (what: string, limit: number, span?: RateWindow) => {
      const standing = takeOf(of, name, what, limit, span);
      if (!standing.accepted) throw rateLimited(standing);
    };
    const { runs_per_day } = limits;
    takeShare("requests", limits.requests_per_minute);
    if (bucket === "run_creations_per_minute") {
      takeShare("runs", limits.run_creations_per_minute);
      if (runs_per_day !== undefined) takeShare("runs of a day", runs_per_day, { span_ms: day_ms, before: runsBefore });
    }
    // Allow one thread and one cancellation per run. Created objects stay, even if no run ever uses them.
    if (bucket === "writes_per_minute" && runs_per_day !== undefined)
      takeShare("writes of a day", 2 * runs_per_day, { span_ms: day_ms });
  }
}

const day_ms = 24 * 3_600_000;

const rateLimited = ({ retryAfter }: Pick<BucketState, "retryAfter">): AppError =>
  new AppError("rate_limited", tooManyRequests, { retryAfter });

interface Context {
  request: Request;
  set: { headers: Headers };
}

/** Response headers. */
type Headers = Record<string, unknown>;

/**
 * Plugin that guards routes. A route without `operation` or `permission` gets no `principal`, so forgetting it is a
 * type error.
 */
export function createAuth(
  name: string,
  {
    identify,
    authenticate,
    idempotency,
    onRefused,
    requestQueue = () => null,
  }: {
    identify: Identify;
    authenticate: Authenticate;
    /** Absent if `Idempotency-Key` is not supported. */
    idempotency?: Idempotency;
    onRefused?: OnRefused;
    /** Queues requests that arrive faster than they are handled. */
    requestQueue?: RequestQueue;
  },
) {
  function admit(request: Request, headers: Headers, access: Access): void {
    const { query = {}, bucket, visitors } = access;
    const principal = identify(request, headers, bucket, visitors);
    const refusal = refusalOf(principal, access);
    if (refusal) {
      const required = refusal.details as Refusal["required"];
      onRefused?.(principal.actor, principal, { required, request });
      throw refusal;
    }
    refuseQuery(request.url, Object.keys(query));
  }

  /** Reads the body. A POST with a known `Idempotency-Key` ends here with the stored response. */
  async function readOnce(request: Request, access: Access): Promise<unknown> {
    const { bytes, parse } = await (access.read ?? readJson)(request, principalOf(request)).finally(
      () => authenticate(request), // Again: the key may be revoked by the time the body is read.
    );
    await requestQueue(nameOf(principalOf(request)));
    const parsed = parse();
    const body = parsed instanceof Promise ? await parsed : parsed; // A body parsed synchronously stays in this tick.
    if (request.method === "POST") idempotency?.begin(request, principalOf(request), bytes);
    return body;
  }

  const admitting = (access: Access) => ({
    // Parsing is the first hook of methods with a body: an unauthenticated caller gets 401 before any JSON error.
    async parse({ request, set }: Context) {
      admit(request, set.headers, access);
      return await (request.method === "DELETE" ? refuseBody(request) : readOnce(request, access));
    },
    // Reads have no parse hook, and `resolve` runs only after validation.
    async transform({ request, set }: Context) {
      if (!isRead(request)) return;
      admit(request, set.headers, access);
      const queue = requestQueue(nameOf(principalOf(request)));
      if (queue) await queue;
    },
    resolve({ request }: Context) {
      const principal = principalOf(request);
      return { principal };
    },
  });

  return new Elysia({ name: `auth:${name}` }).macro({
    operation: (operation: Operation) => ({
      seed: operation.id,
      ...withDeclaration(operation),
      ...admitting(operation),
    }),
    /** For routes outside the API. */
    permission: (needs: Permission) => admitting({ needs }),
  });
}

const readJson: BodyReader = async (request) => {
  const bytes = await readBody(request);
  return { bytes, parse: () => parseJsonBody(bytes, request.headers) };
};

const satisfies = (scopes: ReadonlySet<Permission>, needs: RequiredPermission): boolean =>
  scopes.has("admin") || (needs === "read_or_run" ? scopes.has("read") || scopes.has("run") : scopes.has(needs));

// The framework serves HEAD with the GET route.
const isRead = ({ method }: Request): boolean => method === "GET" || method === "HEAD";

const bucketOf = (request: Request): Bucket => (isRead(request) ? "reads_per_minute" : "writes_per_minute");

/** Returns the refusal, or null if allowed. */
function refusalOf({ token, kind, scopes }: Principal, { needs, client, viewers }: Access): AppError | null {
  const scope = needs === "read_or_run" ? "read" : needs;
  if (token)
    return client === undefined ? clientTokenRefused(scope) : token.scopes.has(client) ? null : scopeMissing(client);
  if (satisfies(scopes, needs) || (viewers && kind === "user")) return null;
  return kind === "user" ? viewerOnly() : scopeMissing(scope);
}

/** True if the caller may start and cancel runs. */
export const mayRun = (principal: Principal): boolean => refusalOf(principal, { needs: "run", client: "run" }) === null;

/** True if the caller may submit what runs wait for. */
export const mayAnswer = (principal: Principal): boolean =>
  refusalOf(principal, { needs: "run", client: "submit" }) === null;

const scopeMissing = (required_scope: Permission | ClientScope): AppError =>
  new AppError("insufficient_scope", `This needs the scope "${required_scope}".`, { details: { required_scope } });

/** Error of routes that accept no client token, whatever its scopes. */
export const clientTokenRefused = (scope: Permission): AppError =>
  new AppError("insufficient_scope", `No client token may ask for this. Use an API key with the scope "${scope}".`, {
    details: { bound_by: "client_token" },
  });

// Only viewers lack scopes: all other people have every scope.
const viewerOnly = (): AppError =>
  new AppError("insufficient_role", 'You are a viewer here. This needs the role "member".', {
    details: { required_role: "member", role: "viewer" },
  });

/** Throws for unknown and for repeated query parameters: of two values it is unclear which one counts. */
function refuseQuery(url: string, allowed: readonly string[]): void {
  if (!url.includes("?")) return;
  const faults = new Map<string, Fault>();
  const seenNames = new Set<string>();
  for (const name of cachedQuery(url).keys()) {
    const known = allowed.includes(name) || allowed.includes(name.replace(/\[.*\]$/s, "[*]"));
    if (!known) faults.set(name, unknownQuery(name, allowed));
    else if (seenNames.has(name)) faults.set(name, fault(name, repeatedParameter));
    seenNames.add(name);
  }
  if (faults.size > 0) throw validationError([...faults.values()].slice(0, 100));
}

const unknownQuery = (name: string, allowed: readonly string[]): Fault =>
  name === ""
    ? { param: null, code: "unknown_parameter", message: "A query parameter has no name." }
    : fault(name, unknownParameter(name, allowed), "unknown_parameter");

/** Reader of runs. A key may be limited to some agents; absent or null: all agents. */
export interface Viewer extends Scope {
  /** Kind of caller; absent for the server itself. */
  readonly kind?: "key" | "user";
  readonly id?: string;
  readonly agent_ids?: readonly string[] | null;
  readonly token?: Bounds;
}

/** The caller's API key, as stored in the runs that it starts. */
export const keyOf = ({ kind, id }: Viewer): { api_key_id?: string } =>
  kind === "key" && id !== undefined ? { api_key_id: id } : {};

type Owned = Pick<Bounds, "thread_id" | "user_id">;

/** True unless the caller is a client token that is bound to another run, thread or user. */
export function maySee({ token }: Viewer, runId: string, { thread_id, user_id }: Owned): boolean {
  if (!token) return true;
  if (token.run_id !== null) return token.run_id === runId;
  return token.thread_id === null ? token.user_id === user_id : token.thread_id === thread_id;
}

/** SQL filters that limit a list of runs to those that a client token may see. */
export function tokenConditions({ token }: Viewer): Condition[] {
  if (!token) return [];
  const { run_id, thread_id, user_id } = token;
  if (run_id !== null) return [{ sql: "id = ?", values: [run_id] }];
  return thread_id === null
    ? [{ sql: "user_id = ?", values: [user_id] }]
    : [{ sql: "thread_id = ?", values: [thread_id] }];
}

export const mayUse = ({ agent_ids }: Viewer, agentId: string): boolean => agent_ids?.includes(agentId) ?? true;

/** Throws 404 (not 403) for an agent outside the key's list, so that the key cannot learn that the agent exists. */
export function requireAgent(viewer: Viewer, agentId: string): void {
  if (!mayUse(viewer, agentId)) throw notFound();
}

/** SQL filter that limits a list to the agents of the key; `agent` is SQL for an agent's id. */
export const agentConditions = ({ agent_ids }: Viewer, agent: string): Condition[] =>
  agent_ids ? [{ sql: `${agent} IN (SELECT value FROM json_each(?))`, values: [JSON.stringify(agent_ids)] }] : [];
