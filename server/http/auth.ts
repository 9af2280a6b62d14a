import { Elysia } from "elysia";
import { AppError, type Fault } from "../core/errors.ts";
import { notFound } from "../core/not-found.ts";
import { type ClientScope, nameOf, type Permission, type Scope } from "../core/scope.ts";
import type { Actor } from "../db/audit.ts";
import type { Condition } from "./condition.ts";
import type { Cors } from "./cors.ts";
import { fault, validationError } from "./errors.ts";
import type { Idempotency } from "./idempotency.ts";
import { parseJsonBody, readBody, refuseBody } from "./json-body.ts";
import { type Access, type BodyReader, declared, type Need, type Operation } from "./operation.ts";
import type { Bounds, ClientToken, Identity, Principal } from "./principal.ts";
import { queryOf } from "./query-of.ts";
import type { Bucket, RateLimiter, Span, Standing } from "./rate-limit.ts";
import { tellStanding } from "./rate-limit-headers.ts";
import type { RequestQueue } from "./request-queue.ts";

/** Says who asks, or throws 401. Synchronous: what it reads is in this process. */
export type Authenticate = (request: Request) => Identity;

/** Why who was admitted by this request would be so no longer; null while they would. Open streams ask again and again. */
export type NoLongerValid = (principal: Principal, request: Request) => AppError | null;

/** What somebody was refused for want of, and where. */
export interface Refusal {
  required: { required_scope: Permission | ClientScope } | { required_role: string } | { bound_by: string };
  request: Request;
}

/** Told of whoever may not do what they asked for; of what is of no project, the scope is null. */
export type OnRefused = (actor: Actor, scope: Scope | null, refusal: Refusal) => void;

export type Auth = ReturnType<typeof createAuth>;

// Across all plugins: a request has one principal, whichever door it came through.
const known = new WeakMap<Request, Principal>();

/** Says who asks, and counts the request. */
export type Identify = ReturnType<typeof createIdentify>;

export function createIdentify({
  authenticate,
  limiter,
  cors,
  clientOf = () => null,
  wasCounted = () => false,
}: {
  authenticate: Authenticate;
  limiter: Pick<RateLimiter, "take" | "takeOf">;
  /** Absent where no page of another site is answered. */
  cors?: Pick<Cors, "settle">;
  /** The address that a request came from; absent where there is no socket. */
  clientOf?: (request: Request) => string | null;
  /** Whether a request was counted before it came. */
  wasCounted?: (request: Request, bucket: Bucket) => boolean;
}) {
  // At once: a request that was answered has no address any more.
  const actorOf = ({ kind, id, token }: Identity, request: Request, headers: Headers): Actor => ({
    type: kind === "key" && token?.person === undefined ? "api_key" : "user",
    id: token?.person ?? id,
    ip: clientOf(request),
    request_id: String(headers["x-request-id"] ?? "") || null,
  });

  /** Throws 401, 403 for a token on a page of another site or of a visitor where none are, and 429 for a request too many. */
  return (request: Request, headers: Headers, bucket: Bucket = bucketOf(request), visitors = false): Principal => {
    const identity = authenticate(request);
    const principal = { ...identity, actor: actorOf(identity, request, headers) };
    known.set(request, principal);
    cors?.settle(principal, request, headers);
    if (principal.token?.is_visitor && !visitors)
      throw new AppError("insufficient_scope", "A visitor of a chat page may not ask for this.");
    if (!wasCounted(request, bucket))
      count(limiter, principal, bucket, (standing) => tellStanding(request, headers, standing));
    return principal;
  };
}

/** Counts a request; throws 429. */
export function count(
  limiter: Pick<RateLimiter, "take" | "takeOf">,
  principal: Principal,
  bucket: Bucket,
  tell?: (standing: Standing | null) => void,
): void {
  if (principal.token) limitToken(limiter, principal.token, bucket);
  const standing = limiter.take(principal, bucket, principal.limits, principal.token?.page);
  tell?.(standing);
  if (standing?.accepted === false) throw tooMany(standing);
}

/** Throws 429, before the request is counted further: whoever asks too often takes nothing from the others. */
function limitToken({ takeOf }: Pick<RateLimiter, "takeOf">, { shares }: ClientToken, bucket: Bucket): void {
  for (const { of, name, limits, runsBefore } of shares) {
    const take = (what: string, limit: number, span?: Span) => {
      const standing = takeOf(of, name, what, limit, span);
      if (!standing.accepted) throw tooMany(standing);
    };
    const { runs_per_day } = limits;
    take("requests", limits.requests_per_minute);
    if (bucket === "run_creations_per_minute") {
      take("runs", limits.run_creations_per_minute);
      if (runs_per_day !== undefined) take("runs of a day", runs_per_day, { span_ms: day_ms, before: runsBefore });
    }
    // A thread for each run, and a cancel: what is made stays, whether or not anything is said in it.
    if (bucket === "writes_per_minute" && runs_per_day !== undefined)
      take("writes of a day", 2 * runs_per_day, { span_ms: day_ms });
  }
}

const day_ms = 24 * 3_600_000;

const tooMany = ({ retryAfter }: Pick<Standing, "retryAfter">): AppError =>
  new AppError("rate_limited", "Too many requests.", { retryAfter });

interface Context {
  request: Request;
  set: { headers: Headers };
}

/** Of the answer to a request. */
type Headers = Record<string, unknown>;

/** A route that says nothing of itself gets no `principal` and so reaches no store: forgetting it is a type error. */
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
    /** Absent where an `Idempotency-Key` means nothing. */
    idempotency?: Pick<Idempotency, "begin">;
    onRefused?: OnRefused;
    /** Where requests come faster than they are handled. */
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

  /** A POST with a key may have been answered before: then it goes no further than this. */
  async function readOnce(request: Request, access: Access): Promise<unknown> {
    const { bytes, parse } = await (access.read ?? readJson)(request, known.get(request)!).finally(
      () => authenticate(request), // Once more: a body may take its time, and the key may be gone by then.
    );
    await requestQueue(nameOf(known.get(request)!));
    const parsed = parse();
    const body = parsed instanceof Promise ? await parsed : parsed; // Whoever need not wait shares the tick with others.
    if (request.method === "POST") idempotency?.begin(request, known.get(request)!, bytes);
    return body;
  }

  const admitting = (access: Access) => ({
    // Where there may be a body, parsing is the first hook: a stranger gets 401, not a lesson about JSON.
    async parse({ request, set }: Context) {
      admit(request, set.headers, access);
      return await (request.method === "DELETE" ? refuseBody(request) : readOnce(request, access));
    },
    // The others have no parsing. `resolve` would be too late: it runs after validation.
    async transform({ request, set }: Context) {
      if (!isRead(request)) return;
      admit(request, set.headers, access);
      const turn = requestQueue(nameOf(known.get(request)!));
      if (turn) await turn;
    },
    resolve({ request }: Context) {
      const principal = known.get(request)!;
      return { principal };
    },
  });

  return new Elysia({ name: `auth:${name}` }).macro({
    operation: (operation: Operation) => ({ seed: operation.id, ...declared(operation), ...admitting(operation) }),
    /** For routes that are no part of the API. */
    permission: (needs: Permission) => admitting({ needs }),
  });
}

const readJson: BodyReader = async (request) => {
  const bytes = await readBody(request);
  return { bytes, parse: () => parseJsonBody(bytes, request.headers) };
};

const satisfies = (scopes: ReadonlySet<Permission>, needs: Need): boolean =>
  scopes.has("admin") || (needs === "read_or_run" ? scopes.has("read") || scopes.has("run") : scopes.has(needs));

// The framework answers HEAD by the route of GET.
const isRead = ({ method }: Request): boolean => method === "GET" || method === "HEAD";

const bucketOf = (request: Request): Bucket => (isRead(request) ? "reads_per_minute" : "writes_per_minute");

/** Why somebody may not ask for this; null where they may. */
function refusalOf({ token, kind, scopes }: Principal, { needs, client, viewers }: Access): AppError | null {
  const scope = needs === "read_or_run" ? "read" : needs;
  if (token) return client === undefined ? noToken(scope) : token.scopes.has(client) ? null : scopeMissing(client);
  if (satisfies(scopes, needs) || (viewers && kind === "user")) return null;
  return kind === "user" ? viewerOnly() : scopeMissing(scope);
}

/** Whether somebody may start and end runs. */
export const mayRun = (principal: Principal): boolean => refusalOf(principal, { needs: "run", client: "run" }) === null;

/** Whether somebody may answer what runs ask. */
export const mayAnswer = (principal: Principal): boolean =>
  refusalOf(principal, { needs: "run", client: "submit" }) === null;

const scopeMissing = (required_scope: Permission | ClientScope): AppError =>
  new AppError("insufficient_scope", `This needs the scope "${required_scope}".`, { details: { required_scope } });

/** Where no client token is let in, whatever its scopes. */
export const noToken = (scope: Permission): AppError =>
  new AppError("insufficient_scope", `No client token may ask for this. Use an API key with the scope "${scope}".`, {
    details: { bound_by: "client_token" },
  });

// Of people, whoever lacks a scope is a viewer: the others have them all.
const viewerOnly = (): AppError =>
  new AppError("insufficient_role", 'You are a viewer here. This needs the role "member".', {
    details: { required_role: "member", role: "viewer" },
  });

/** Throws for a parameter that the route does not take, and for one given twice: which of them would count? */
function refuseQuery(url: string, allowed: readonly string[]): void {
  if (!url.includes("?")) return;
  const faults = new Map<string, Fault>();
  const seen = new Set<string>();
  for (const name of queryOf(url).keys()) {
    const known = allowed.includes(name) || allowed.includes(name.replace(/\[.*\]$/s, "[*]"));
    if (!known) faults.set(name, unknownParameter(name));
    else if (seen.has(name)) faults.set(name, fault(name, "This parameter is given twice."));
    seen.add(name);
  }
  if (faults.size > 0) throw validationError([...faults.values()].slice(0, 100));
}

const unknownParameter = (name: string): Fault =>
  name === ""
    ? { param: null, code: "unknown_parameter", message: "A query parameter has no name." }
    : fault(name, "There is no such parameter.", "unknown_parameter");

/** Who looks at runs: a key may be bound to some agents. Absent or null is all. */
export interface Viewer extends Scope {
  /** What asks, where somebody does; the server itself asks as nobody. */
  readonly kind?: "key" | "user";
  readonly id?: string;
  readonly agent_ids?: readonly string[] | null;
  readonly token?: Bounds;
}

/** The API key by which somebody asks, as a run that they begin has it. */
export const keyOf = ({ kind, id }: Viewer): { api_key_id?: string } =>
  kind === "key" && id !== undefined ? { api_key_id: id } : {};

type Owned = Pick<Bounds, "thread_id" | "user_id">;

/** Whether a client token, where it is one, is bound to what holds this run. */
export function maySee({ token }: Viewer, runId: string, { thread_id, user_id }: Owned): boolean {
  if (!token) return true;
  if (token.run_id !== null) return token.run_id === runId;
  return token.thread_id === null ? token.user_id === user_id : token.thread_id === thread_id;
}

/** Narrows a list of runs to those that a client token is bound to. */
export function withinBounds({ token }: Viewer): Condition[] {
  if (!token) return [];
  const { run_id, thread_id, user_id } = token;
  if (run_id !== null) return [{ sql: "id = ?", values: [run_id] }];
  return thread_id === null
    ? [{ sql: "user_id = ?", values: [user_id] }]
    : [{ sql: "thread_id = ?", values: [thread_id] }];
}

export const mayUse = ({ agent_ids }: Viewer, agentId: string): boolean => agent_ids?.includes(agentId) ?? true;

/** Throws 404 for an agent that this key may not use: it may not learn that the agent exists. */
export function requireAgent(viewer: Viewer, agentId: string): void {
  if (!mayUse(viewer, agentId)) throw notFound();
}

/** Narrows a list to the agents that this key may use; `agent` is SQL for an agent's id. */
export const ofAgents = ({ agent_ids }: Viewer, agent: string): Condition[] =>
  agent_ids ? [{ sql: `${agent} IN (SELECT value FROM json_each(?))`, values: [JSON.stringify(agent_ids)] }] : [];
