import { Elysia } from "elysia";
import { agentRoutes } from "./agents/routes.ts";
import { createAgentStore } from "./agents/store.ts";
import { auditRoutes } from "./audit/routes.ts";
import { createAuditStore } from "./audit/store.ts";
import { modelRoutes } from "./connections/routes.ts";
import { createConnectionStore } from "./connections/store.ts";
import { type ConsoleOptions, createConsole } from "./console/console.ts";
import type { ToolSnapshot } from "./core/agent-snapshot.ts";
import { AppError } from "./core/errors.ts";
import { defaultLimits } from "./core/project-settings.ts";
import type { Environment, Scope } from "./core/scope.ts";
import { createAudit } from "./db/audit.ts";
import type { Db } from "./db/open.ts";
import { type Auth, createAuth, type StillValid } from "./http/auth.ts";
import { createEdge } from "./http/edge.ts";
import { errorDocsRoutes } from "./http/error-docs.ts";
import { healthRoutes } from "./http/health.ts";
import { createTransportGate, type GateOptions } from "./http/https-only.ts";
import { createIdempotency } from "./http/idempotency.ts";
import { isNewWork } from "./http/new-work.ts";
import { openApiRoutes } from "./http/openapi.ts";
import { createRateLimiter } from "./http/rate-limit.ts";
import { createJournal } from "./journal/journal.ts";
import { bearer, createKeyAuthenticate } from "./keys/authenticate.ts";
import { keyRoutes, meRoutes } from "./keys/routes.ts";
import { createKeyStore } from "./keys/store.ts";
import { createEgress } from "./lib/egress.ts";
import type { Log } from "./lib/log.ts";
import type { Seal } from "./lib/seal.ts";
import { createProjectStore } from "./projects/store.ts";
import { createWindDown } from "./projects/wind-down.ts";
import { createPool } from "./runs/pool.ts";
import { createRunProjector } from "./runs/project.ts";
import { createRetention, type ForgetExpired } from "./runs/retention.ts";
import { runRoutes } from "./runs/routes.ts";
import { createRunService } from "./runs/service.ts";
import { createRunStore } from "./runs/store.ts";
import { createRunStream } from "./runs/stream.ts";
import { sameThread, workerThread } from "./runs/threads.ts";
import { createWatches } from "./runs/watch.ts";
import { secretRoutes } from "./secrets/routes.ts";
import { createSecretStore } from "./secrets/store.ts";
import { toolRoutes } from "./tools/routes.ts";
import { openToolSecrets, resolveToolSecrets } from "./tools/secrets.ts";
import { createToolStore } from "./tools/store.ts";
import { traceRoutes } from "./traces/routes.ts";
import { createTraceStore } from "./traces/store.ts";

export interface AppOptions {
  db: Db;
  seal: Seal;
  log: Log;
  /** The operator's model connections are read from here. */
  environment: Record<string, string | undefined>;
  /** Threads for runs; 0 runs the loops on this thread. */
  workers: number;
  /** What users' addresses may reach; `loopback` counts in test environments only. */
  egress: { allow: readonly string[]; loopback: boolean; ca?: string };
  /** Absent where requests come from memory and not from a socket. */
  transport?: Omit<GateOptions, "onExposed"> & { keepExposedKeys: boolean };
  /** What is known of disk and database file; absent where there is none. */
  storage?: {
    /** Throws `storage_full` when there is no room for new work. */
    requireRoom(): void;
    /** False once the database was found damaged. */
    isWhole(): boolean;
  };
  /** Absent where nobody looks: the API alone. */
  dashboard?: ConsoleOptions;
  /** How long the audit log is kept; null is for ever. */
  audit_days?: number | null;
  now?: () => number;
}

export type App = ReturnType<typeof createApp>;

const lastUsedEvery_ms = 60_000;
const day_ms = 24 * 3_600_000;

/** Builds every store and service by hand and mounts the routes: the only file that sees everything. */
export function createApp({
  db,
  seal,
  log,
  environment,
  workers,
  egress,
  transport,
  storage,
  dashboard,
  audit_days = 365,
  now = Date.now,
}: AppOptions) {
  const closing = new AbortController();
  const audit = createAudit({ db, now });
  const projects = createProjectStore({ db, audit, now });
  const keys = createKeyStore({ db, audit, now });
  const connections = createConnectionStore({ db, audit, seal, environment, now });
  const policyOf = (environment: Environment) => ({ ...egress, loopback: egress.loopback && environment === "test" });
  const guards = { test: createEgress(policyOf("test")), live: createEgress(policyOf("live")) };
  const secrets = createSecretStore({ db, seal, audit, now });
  const tools = createToolStore({
    db,
    audit,
    seal,
    egress: (environment) => guards[environment],
    hasSecret: secrets.has,
    now,
  });
  const agents = createAgentStore({
    db,
    audit,
    now,
    modelAvailable: connections.isAvailable,
    toolSnapshots: tools.snapshots,
  });

  const limiter = createRateLimiter();
  const gate = transport && createTransportGate({ ...transport, onExposed });
  function onExposed(authorization: string): void {
    const secret = bearer(authorization);
    if (secret !== null)
      keys
        .expose(secret, { keepLive: transport!.keepExposedKeys })
        .catch((error) => log.error("an exposed key could not be marked", { error }));
  }

  const watches = createWatches(now);
  const journal = createJournal({ db, project: createRunProjector(db.sqlite), wake: watches.committed, now });
  const runs = createRunStore({ db, journal, audit });
  const traces = createTraceStore({ db, journal });
  const tail = createRunStream({ journal, watches });
  const slots = ({ project_id }: Scope): number =>
    projects.settingsOf(project_id).runs_in_progress ?? defaultLimits.runs_in_progress;
  const slotsOrNoLimit = (scope: Scope): number => slots(scope) || Number.POSITIVE_INFINITY;
  // What an archived project has queued begins no more: it is about to be cancelled.
  const slotsToBegin = (scope: Scope): number => (projects.isOpen(scope.project_id) ? slotsOrNoLimit(scope) : 0);
  const openSecrets = (scope: Scope, toolId: string, sealed: string) =>
    resolveToolSecrets(openToolSecrets(seal, scope, toolId, sealed), (name) => secrets.value(scope, name));
  const pool = createPool({
    journal,
    watches,
    prepare: (scope, agent) => ({
      ...connections.resolve(agent.model, scope.environment),
      secrets: secretsOf(scope, agent.tools),
      egress: policyOf(scope.environment),
    }),
    openSecrets,
    threads: workers === 0 ? sameThread : workerThread,
    size: workers,
    slots: slotsOrNoLimit,
    log,
    now,
  });
  const secretsOf = (scope: Scope, pinned: readonly ToolSnapshot[]) =>
    Object.fromEntries(pinned.flatMap(({ id, http }) => (http ? [[id, openSecrets(scope, id, http.sealed)]] : [])));
  const service = createRunService({
    db,
    journal,
    watches,
    pool,
    runs,
    snapshot: agents.snapshot,
    slots: slotsToBegin,
    now,
  });

  /** The resources, once for keys under /v1 and once for people at the dashboard. */
  const resources = (auth: Auth, isValid: StillValid) =>
    new Elysia()
      .use(agentRoutes({ auth, agents }))
      .use(toolRoutes({ auth, tools }))
      .use(secretRoutes({ auth, secrets }))
      .use(runRoutes({ auth, journal, audit, runs, service, tail, watches, isValid, closing: closing.signal }))
      .use(traceRoutes({ auth, traces, forget: runs.forgetTrace }))
      .use(keyRoutes({ auth, keys }))
      .use(auditRoutes({ auth, entries: createAuditStore({ db }) }))
      .use(modelRoutes({ auth, connections }))
      .use(meRoutes({ auth, keys, limiter, projects, runs: { limit: slots, inProgress: runs.inProgress } }));

  const onBug = (error: unknown, request_id: string) => log.error("a request met a bug", { request_id, error });
  const idempotency = createIdempotency({ db, seal, onBug, now });
  const clientOf = (request: Request): string | null => gate?.clientOf(request) ?? null;
  const keyAuth = createAuth("key", {
    authenticate: createKeyAuthenticate({ keys, limiter, clientOf }),
    limiter,
    clientOf,
    idempotency,
  });
  const root = new Elysia({ normalize: false });
  const app = root
    .wrap(idempotency.around)
    .use(
      createEdge({
        routes: () => root.routes,
        limiter,
        gate,
        onClientId: (client_request_id, request_id, { method, url }) =>
          log.info("request", { request_id, client_request_id, method, path: new URL(url).pathname }),
        onBug,
        now,
      }),
    )
    .onRequest(({ request }) => {
      db.snapshot.begin();
      if (closing.signal.aborted && request.method !== "GET")
        throw new AppError("shutting_down", "The server is stopping. Try again in a moment.", { retryAfter: 5 });
      if (isNewWork(request)) storage?.requireRoom();
    })
    .use(
      healthRoutes({
        database: () => db.sqlite.query("SELECT 1").get() !== null,
        integrity: () => storage?.isWhole() ?? true,
        serving: () => !closing.signal.aborted,
      }),
    )
    .use(errorDocsRoutes())
    .group("/v1", (v1) =>
      v1
        .use(resources(keyAuth, ({ id }) => keys.isValid(id)))
        .use(openApiRoutes({ auth: keyAuth, routes: () => root.routes })),
    )
    .use(
      dashboard
        ? createConsole({
            ...dashboard,
            db,
            audit,
            projects,
            limiter,
            watches,
            clientOf,
            closing: closing.signal,
            resources,
            now,
          })
        : new Elysia(),
    );

  const lastUsed = setInterval(
    () => keys.writeLastUsed().catch((error) => log.error("last use of keys was not written", { error })),
    lastUsedEvery_ms,
  );
  lastUsed.unref();
  const forgetAudit: ForgetExpired = (limit) =>
    audit_days === null ? 0 : audit.forgetOlder(now() - audit_days * day_ms, limit);
  const forgetters = [idempotency.forgetExpired, forgetAudit];
  const retention = createRetention({ db, projects, runs, forgetters, log, now });
  retention.start();
  const windDown = createWindDown({ db, projects, cancel: service.cancel, log });
  windDown.start();

  return {
    app: app as unknown as Elysia,
    projects,
    keys,
    connections,
    watches,
    pool,
    idempotency,
    /** Takes up what an earlier process left unfinished. Answers how many runs that were. */
    async recover(): Promise<number> {
      // What was archived meanwhile may not begin again, not even for a moment.
      await windDown.cancelAll().catch((error) => log.error("runs of an archived project go on", { error }));
      return await service.recover();
    },
    /** Deletes what is older than its project keeps, now; a timer does so every few minutes. */
    sweep: retention.sweep,
    /** Ends what goes on in archived and deleted projects and erases the latter, now; a timer does so every second. */
    windDown: windDown.finish,
    /** Refuses new work and ends the streams; steps in flight are left to the next start. */
    async stop(): Promise<void> {
      closing.abort();
      clearInterval(lastUsed);
      service.stop();
      pool.stop();
      await Promise.all([retention.stop(), windDown.stop()]);
      // A full disk may not keep the process from ending: the next start then takes this for a crash.
      for (const write of [runs.markCleanStop, keys.writeLastUsed])
        await write().catch((error) => log.error("the end was not noted in the database", { error }));
    },
  };
}
