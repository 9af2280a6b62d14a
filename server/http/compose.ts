import { type AnyElysia, Elysia } from "elysia";
import { AppError } from "../core/errors.ts";
import { docsDir } from "../lib/assets.ts";
import { lazy } from "../lib/lazy.ts";
import { createSignal } from "../lib/signal.ts";
import { atOnce } from "./at-once.ts";
import { type Authenticate, count, createAuth, createIdentify, type NoLongerValid, type OnRefused } from "./auth.ts";
import { createCors } from "./cors.ts";
import { docsRoutes } from "./docs-site.ts";
import { type Answered, createEdge } from "./edge.ts";
import { healthRoutes } from "./health.ts";
import { createTransportGate, type GateOptions, type OnExposed } from "./https-only.ts";
import { createIdempotency } from "./idempotency.ts";
import { createIsNewWork } from "./new-work.ts";
import { createOpenApi, openApiRoutes } from "./openapi.ts";
import type { Base, Door, Mount } from "./part.ts";
import { createRateLimiter } from "./rate-limit.ts";
import { createRequestQueue } from "./request-queue.ts";
import { createWithin, type DoorAccess } from "./within.ts";

export interface HttpOptions {
  /** Absent where requests come from memory and not from a socket. */
  transport?: Omit<GateOptions, "onExposed">;
  /** What is known of disk and database file; absent where there is none. */
  storage?: {
    /** Throws `storage_full` when there is no room for new work. */
    requireRoom(fresh?: boolean): void;
    /** False once the database was found damaged. */
    isWhole(): boolean;
  };
  /** The folder of the built documentation. */
  docs?: string;
}

interface Served {
  /** By API keys. */
  authenticate: Authenticate;
  noLongerValid: NoLongerValid;
  onRefused: OnRefused;
  callbacks: AnyElysia;
  metrics: AnyElysia;
  /** What stands under /v1. */
  resources: Mount;
  /** What people reach; null where nobody looks. */
  dashboard: { own: AnyElysia; ofProjects(into: AnyElysia): AnyElysia } | null;
  /** Other protocols over the same API. */
  doors: readonly Door[];
}

/** What the API and the dashboard have in common: one application, its edge, and what it keeps of requests. */
export function composeHttp({
  transport,
  storage,
  docs = docsDir(),
  ...base
}: Pick<Base, "db" | "seal" | "log" | "sandbox" | "requireRoom" | "publicUrl" | "closing" | "now"> & HttpOptions) {
  const { db, seal, log, sandbox, requireRoom, publicUrl, closing, now } = base;
  // The details are for `errors.ts`; what is said of them is written there.
  const root = new Elysia({ normalize: false, allowUnsafeValidationDetails: true });
  const limiter = createRateLimiter();
  const cors = createCors({ db });
  const exposed = createSignal<Parameters<OnExposed>>();
  const answered = createSignal<[Answered]>();
  // The routes of resources for people are made when the first of them asks: many a server has programs alone to answer.
  let forPeople = () => {};
  const routes = () => {
    forPeople();
    return root.routes;
  };
  const within = createWithin((request) => root.handle(request));
  const gate =
    transport &&
    createTransportGate({
      ...transport,
      peerOf: (request) => transport.peerOf(within.outerOf(request)),
      isPlain: (request) => transport.isPlain?.(within.outerOf(request)) ?? false,
      onExposed: exposed.tell,
    });
  const clientOf = (request: Request): string | null => gate?.clientOf(request) ?? null;
  const onBug = (error: unknown, request_id: string) => log.error("a request met a bug", { request_id, error });
  const idempotency = createIdempotency({ db, seal, onBug, now });
  const openApi = createOpenApi(() => root.routes);
  const isNewWork = createIsNewWork(routes);
  const checks = {
    database: () => db.sqlite.query("SELECT 1").get() !== null,
    integrity: () => storage?.isWhole() ?? true,
    serving: () => !closing.aborted,
  };

  /** Admits a request while the server does; what begins new work, only where there is room for it. */
  function admit(request: Request): void {
    db.snapshot.renew();
    if (closing.aborted && request.method !== "GET")
      throw new AppError("shutting_down", "The server is stopping. Try again in a moment.", { retryAfter: 5 });
    if (request.method !== "GET") admitWork(request);
  }

  // Whether it is new work takes longer to say than whether there is room for it, which there mostly is.
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
    /** All that there are. */
    routes,
    /** Calls with each `Authorization` header that came in clear text. */
    onExposed: exposed.listen,
    /** Told of each response to a request from outside, as it leaves. */
    onAnswered: answered.listen,
    /** The whole application. */
    serve({ authenticate, noLongerValid, onRefused, callbacks, metrics, resources, dashboard, doors }: Served): Elysia {
      const identify = createIdentify({ authenticate, limiter, cors, clientOf, wasCounted: within.wasCounted });
      const auth = createAuth("key", {
        identify,
        authenticate,
        idempotency,
        onRefused,
        requestQueue: createRequestQueue(),
      });
      const onClientId = (client_request_id: string, request_id: string, { method, url }: Request) =>
        log.info("request", { request_id, client_request_id, method, path: new URL(url).pathname });
      const onAnswered = (response: Answered, request: Request) => {
        if (within.outerOf(request) === request) answered.tell(response);
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
        .use(createEdge({ routes, limiter, publicUrl, identify, cors, gate, onAnswered, onClientId, onBug, now }))
        .onRequest(atOnce(({ request }) => admit(request)))
        .use(healthRoutes(checks, () => ({ sandbox_level: sandbox.known() })))
        .use(metrics)
        .use(docsRoutes({ folder: docs, openApi }))
        .use(callbacks)
        .group("/v1", (v1) => resources(v1, auth, noLongerValid).use(openApiRoutes({ auth, document: openApi })))
        .use(dashboard?.own ?? new Elysia());
      const countAhead: DoorAccess["countAhead"] = (outer, principal, bucket) => {
        count(limiter, principal, bucket);
        within.counted(outer, bucket);
      };
      const { madeBefore } = idempotency;
      const access = {
        auth,
        identify,
        noLongerValid,
        api: within.send,
        forward: within.forward,
        countAhead,
        madeBefore,
      };
      for (const door of doors) root.use(door(access));
      return app as unknown as Elysia;
    },
  };
}
