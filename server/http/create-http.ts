import { type AnyElysia, Elysia } from "elysia";
import { stoppingBriefly } from "../domain/error-messages.ts";
import { AppError } from "../domain/errors.ts";
import { docsDir } from "../lib/assets.ts";
import { createEventEmitter } from "../lib/event-emitter.ts";
import { lazy } from "../lib/lazy.ts";
import { type Authenticate, createAuth, createIdentify, type NoLongerValid, type OnRefused } from "./auth.ts";
import { createCors } from "./cors.ts";
import { docsRoutes } from "./docs-site.ts";
import { createTransportGate, type GateOptions, type OnExposed } from "./https-only.ts";
import { createIdempotency } from "./idempotency.ts";
import { createInternalClient } from "./internal-client.ts";
import type { Base, Mount, ProtocolPlugin } from "./module.ts";
import { createOpenApi, openApiRoutes } from "./openapi.ts";
import { createRateLimiter } from "./rate-limit.ts";
import { createRequestQueue } from "./request-queue.ts";
import { createResponseFinalizer, type ResponseFacts } from "./response-finalizer.ts";
import { syncHook } from "./sync-hook.ts";
import { createWriteAdmission } from "./write-admission.ts";

export interface HttpOptions {
  /** Absent if requests come from memory instead of a socket. */
  transport?: Omit<GateOptions, "onExposed">;
  /** State of the disk and the database file; absent without a database file. */
  storage?: {
    /** Throws `storage_full` if there is no room for new work. */
    requireRoom(fresh?: boolean): void;
    /** False once corruption was found in the database. */
    isWhole(): boolean;
  };
  /** Folder of the built documentation. */
  docs?: string;
}

interface Served {
  /** Authenticates by API key. */
  authenticate: Authenticate;
  noLongerValid: NoLongerValid;
  onRefused: OnRefused;
  callbacks: AnyElysia;
  consents: AnyElysia;
  triggers: AnyElysia;
  /** Where authorization servers send users back. */
  oauth: AnyElysia;
  metrics: AnyElysia;
  /** Routes under /v1. */
  resources: Mount;
  /** Routes of the dashboard; null if it is disabled. */
  dashboard: { own: AnyElysia; ofProjects(into: AnyElysia): AnyElysia } | null;
  /** Other protocols over the same API. */
  protocols: readonly ProtocolPlugin[];
}

export type HttpModule = ReturnType<typeof createHttpModule>;

/** Creates what API and dashboard share: one application, its rate limits, CORS, idempotency and transport checks. */
export function createHttpModule({ base, options }: { base: Base; options: HttpOptions }) {
  const { transport, storage, docs = docsDir() } = options;
  const { db, seal, log, sandbox, requireRoom, publicUrl, closing, now } = base;
  // Allows details only for `errors.ts`, which writes the messages that clients see.
  const root = new Elysia({ normalize: false, allowUnsafeValidationDetails: true });
  const limiter = createRateLimiter();
  const cors = createCors({ db });
  const exposedEvents = createEventEmitter<Parameters<OnExposed>>();
  const beginEvents = createEventEmitter();
  const answerEvents = createEventEmitter<[ResponseFacts]>();
  // Dashboard routes are created at the first dashboard request, because many servers only serve API clients.
  let forPeople = () => {};
  const routes = () => {
    forPeople();
    return root.routes;
  };
  const within = createInternalClient((request) => root.handle(request));
  const gate =
    transport &&
    createTransportGate({
      ...transport,
      peerOf: (request) => transport.peerOf(within.outerOf(request)),
      isPlain: (request) => transport.isPlain?.(within.outerOf(request)) ?? false,
      onExposed: exposedEvents.tell,
    });
  const clientOf = (request: Request): string | null => gate?.clientOf(request) ?? null;
  const onBug = (error: unknown, request_id: string) => log.error("a request met a bug", { request_id, error });
  const idempotency = createIdempotency({ db, seal, onBug, now });
  const openApi = createOpenApi(() => root.routes);
  const isNewWork = createWriteAdmission(routes);
  const checks = {
    database: () => db.sqlite.query("SELECT 1").get() !== null,
    integrity: () => storage?.isWhole() ?? true,
    serving: () => !closing.aborted,
  };

  /** Refuses every request but GET while the server stops, and new work while the disk is full. */
  function admit(request: Request): void {
    db.snapshot.renew();
    if (closing.aborted && request.method !== "GET")
      throw new AppError("shutting_down", stoppingBriefly, { retryAfter: 5 });
    if (request.method !== "GET") admitWork(request);
  }

  // Checks the disk first: it is cheaper than finding out whether the request is new work, and mostly there is room.
  function admitWork(request: Request): void {
    try {
      requireRoom();
    } catch (full) {
      if (isNewWork(request)) throw full;
    }
  }

  return {
    limiter,
    idempotency,
    clientOf,
    isRebound: (request: Request): boolean => gate?.isRebound(request) ?? false,
    openApi,
    /** All routes of the application. */
    routes,
    /** Calls back with each `Authorization` header that came over plain HTTP. */
    onExposed: exposedEvents.listen,
    /** Calls back when a request begins. */
    onBegun: beginEvents.listen,
    /** Calls back with each response to an external request. */
    onAnswered: answerEvents.listen,
    /** Builds the complete application. */
    serve({
      authenticate,
      noLongerValid,
      onRefused,
      callbacks,
      consents,
      triggers,
      oauth,
      metrics,
      resources,
      dashboard,
      protocols,
    }: Served): Elysia {
      const identify = createIdentify({ authenticate, limiter, cors, clientOf });
      const auth = createAuth("key", {
        identify,
        authenticate,
        idempotency,
        onRefused,
        requestQueue: createRequestQueue(),
      });
      const onClientId = (client_request_id: string, request_id: string, { method, url }: Request) =>
        log.info("request", { request_id, client_request_id, method, path: new URL(url).pathname });
      const onAnswered = (response: ResponseFacts, request: Request) => {
        if (within.outerOf(request) === request) answerEvents.tell(response);
      };
      forPeople = lazy(() => {
        dashboard?.ofProjects(root);
        root.compile();
      });
      const app = root
        .wrap((handle, { url }) => {
          if (url.includes("/console/api/")) forPeople();
          return handle;
        })
        .wrap(idempotency.around)
        .use(
          createResponseFinalizer({
            routes,
            limiter,
            publicUrl,
            identify,
            cors,
            gate,
            onBegun: beginEvents.tell,
            onAnswered,
            onClientId,
            onBug,
            now,
          }),
        )
        .onRequest(syncHook(({ request }) => admit(request)))
        .use(healthRoutes(checks, () => ({ sandbox_level: sandbox.known() })))
        .use(metrics)
        .use(docsRoutes({ folder: docs, openApi }))
        .use(callbacks)
        .use(consents)
        .use(triggers)
        .use(oauth)
        .group("/v1", (v1) => resources(v1, auth, noLongerValid).use(openApiRoutes({ auth, document: openApi })))
        .use(dashboard?.own ?? new Elysia());
      const { previousRunId } = idempotency;
      const access = {
        auth,
        identify,
        noLongerValid,
        api: within.send,
        forward: within.forward,
        previousRunId,
      };
      for (const protocol of protocols) root.use(protocol(access));
      return app as unknown as Elysia;
    },
  };
}

/**
 * `GET /healthz`: the process responds. `GET /readyz`: 503 with the failed checks if the server cannot work. `facts`
 * are shown beside the checks and never fail.
 */
const healthRoutes = (checks: Record<string, () => boolean>, facts: () => Record<string, unknown>) =>
  new Elysia()
    .get("/healthz", () => ({ status: "ok" }))
    .get("/readyz", ({ status }) => {
      const results = Object.fromEntries(Object.entries(checks).map(([name, check]) => [name, passes(check)]));
      const ready = Object.values(results).every(Boolean);
      return status(ready ? 200 : 503, { status: ready ? "ready" : "not_ready", checks: results, ...facts() });
    });

function passes(check: () => boolean): boolean {
  try {
    return check();
  } catch {
    return false;
  }
}
