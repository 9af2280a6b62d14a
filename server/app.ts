import { dirname, join } from "node:path";
import { Elysia } from "elysia";
import { agentRoutes } from "./agents/routes.ts";
import { createAgentStore } from "./agents/store.ts";
import { createRefusals } from "./audit/refusals.ts";
import { auditRoutes } from "./audit/routes.ts";
import { createAuditStore } from "./audit/store.ts";
import { callbackRoutes } from "./callbacks/routes.ts";
import { createCallbacks } from "./callbacks/service.ts";
import { createPriceStore } from "./connections/prices.ts";
import { modelRoutes } from "./connections/routes.ts";
import { createConnectionStore } from "./connections/store.ts";
import { tryConnection } from "./connections/try-connection.ts";
import { createBackups, type MakeBackup } from "./console/backups.ts";
import { connectionRoutes } from "./console/connection-routes.ts";
import { type ConsoleOptions, createConsole } from "./console/console.ts";
import { serverRoutes } from "./console/server-routes.ts";
import type { SignedIn } from "./console/signed-in.ts";
import type { ToolSnapshot } from "./core/agent-snapshot.ts";
import { AppError } from "./core/errors.ts";
import { happening } from "./core/origin.ts";
import { defaultLimits } from "./core/project-settings.ts";
import type { RunObject } from "./core/run-object.ts";
import { fold } from "./core/run-state.ts";
import type { Environment, Scope } from "./core/scope.ts";
import { createAudit } from "./db/audit.ts";
import { createFileBlobs } from "./db/file-blobs.ts";
import type { Db } from "./db/open.ts";
import { createAttachments } from "./files/attachments.ts";
import { createDocumentChunks } from "./files/document-chunks.ts";
import { createDocumentWork } from "./files/document-work.ts";
import { createOutputs } from "./files/outputs.ts";
import { createProcessing } from "./files/processing.ts";
import { createReceiver } from "./files/receive.ts";
import { fileRoutes } from "./files/routes.ts";
import { createFileStore } from "./files/store.ts";
import { type Auth, createAuth, createIdentify, type NoLongerValid, type Viewer } from "./http/auth.ts";
import { createEdge } from "./http/edge.ts";
import { errorDocsRoutes } from "./http/error-docs.ts";
import { healthRoutes } from "./http/health.ts";
import { createTransportGate, type GateOptions } from "./http/https-only.ts";
import { createIdempotency } from "./http/idempotency.ts";
import { isNewWork } from "./http/new-work.ts";
import { createOpenApi, openApiRoutes } from "./http/openapi.ts";
import { createRateLimiter } from "./http/rate-limit.ts";
import { createRequestQueue } from "./http/request-queue.ts";
import type { AgentOverrides } from "./http/schemas.ts";
import { createJournal } from "./journal/journal.ts";
import { bearer, createKeyAuthenticate } from "./keys/authenticate.ts";
import { keyRoutes, meRoutes } from "./keys/routes.ts";
import { createKeyStore } from "./keys/store.ts";
import { createEgress, type EgressPolicy } from "./lib/egress.ts";
import type { Log } from "./lib/log.ts";
import type { Seal } from "./lib/seal.ts";
import { createMcpClient } from "./mcp/client.ts";
import { readStdioServers } from "./mcp/stdio-config.ts";
import { createStdioServers } from "./mcp/stdio-servers.ts";
import { createEmbeddingChooser } from "./memory/embedding.ts";
import { createEntryStore } from "./memory/entries.ts";
import { createFileEntries } from "./memory/file-entries.ts";
import { createIndexer } from "./memory/indexer.ts";
import { createKeyStore as createMemoryKeys } from "./memory/keys.ts";
import { memoryRoutes } from "./memory/routes.ts";
import { createMemorySearch } from "./memory/search.ts";
import { createMemoryStores } from "./memory/store.ts";
import { createMemorySweeper } from "./memory/sweeper.ts";
import { createProjectStore } from "./projects/store.ts";
import { createWindDown } from "./projects/wind-down.ts";
import { createEmbedders, type Embedders } from "./retrieval/embed/embedder.ts";
import { createSearcher } from "./retrieval/search/searcher.ts";
import { type Answerers, createAnswers } from "./runs/answers.ts";
import { createBench } from "./runs/bench.ts";
import { createMemoryAnswers } from "./runs/memory-answers.ts";
import { createModelPlaces } from "./runs/model-places.ts";
import { createPool } from "./runs/pool.ts";
import { createRunProjector } from "./runs/project.ts";
import { createReplays } from "./runs/replay.ts";
import { createRetention, type ForgetExpired } from "./runs/retention.ts";
import { runRoutes } from "./runs/routes.ts";
import { requireScopeIds } from "./runs/scope-ids.ts";
import { createRunService } from "./runs/service.ts";
import { createRunStore } from "./runs/store.ts";
import { createRunStream } from "./runs/stream.ts";
import { sameThread, workerThread } from "./runs/threads.ts";
import { unlessDamaged } from "./runs/unless-damaged.ts";
import { createWatches } from "./runs/watch.ts";
import { createCapsuleReader } from "./sandbox/capsule-reader.ts";
import { createDocumentReader } from "./sandbox/document-reader.ts";
import type { SandboxLevel } from "./sandbox/program.ts";
import { createFirings } from "./schedules/firings.ts";
import { scheduleRoutes } from "./schedules/routes.ts";
import { createScheduler, type StartRun } from "./schedules/scheduler.ts";
import { createScheduleStore } from "./schedules/store.ts";
import { secretRoutes } from "./secrets/routes.ts";
import { createSecretStore } from "./secrets/store.ts";
import { createComparison } from "./suites/compare.ts";
import { createLiveRuns } from "./suites/live.ts";
import { createPerformer } from "./suites/performer.ts";
import { createPin } from "./suites/pin.ts";
import { suiteRoutes } from "./suites/routes.ts";
import { createSuiteService } from "./suites/service.ts";
import { createSuiteStore } from "./suites/store.ts";
import { createSuiteRuns } from "./suites/suite-runs.ts";
import { createThreadProjector } from "./threads/project.ts";
import { threadRoutes } from "./threads/routes.ts";
import { createThreadStore } from "./threads/store.ts";
import type { ListTools } from "./tools/mcp-lists.ts";
import { toolRoutes } from "./tools/routes.ts";
import { openToolSecrets, resolveToolSecrets, sealedOf } from "./tools/secrets.ts";
import { createToolStore } from "./tools/store.ts";
import { createToolTest } from "./tools/test-call.ts";
import { createCapsules } from "./traces/capsule.ts";
import { createImportBody } from "./traces/import-body.ts";
import { createImports } from "./traces/imports.ts";
import type { OtlpTarget } from "./traces/otlp-post.ts";
import { createOtlpPush } from "./traces/otlp-push.ts";
import { createOtlpSource } from "./traces/otlp-source.ts";
import { capsuleRoutes, diffRoutes, importRoutes, traceRoutes } from "./traces/routes.ts";
import { createTraceStore } from "./traces/store.ts";
import { createWorkspace } from "./traces/workspace.ts";
import { createDayBudgets } from "./usage/day-budgets.ts";
import { createUsageProjector } from "./usage/project.ts";
import { createReservations } from "./usage/reservations.ts";
import { usageRoutes } from "./usage/routes.ts";
import { createUsageStore } from "./usage/store.ts";
import { createDeliveryStore } from "./webhooks/deliveries.ts";
import { createDispatcher } from "./webhooks/dispatch.ts";
import { createOutbox } from "./webhooks/outbox.ts";
import { createPayloads } from "./webhooks/payload.ts";
import { createRecorder } from "./webhooks/record.ts";
import { webhookRoutes } from "./webhooks/routes.ts";
import { createWebhookStore } from "./webhooks/store.ts";

export interface AppOptions {
  db: Db;
  seal: Seal;
  log: Log;
  /** The operator's model connections and MCP servers are read from here. */
  environment: Record<string, string | undefined>;
  /** Threads for runs; 0 runs the loops on this thread. */
  workers: number;
  /** What users' addresses may reach; `loopback` counts in test environments only. */
  egress: EgressPolicy;
  /** Absent where requests come from memory and not from a socket. */
  transport?: Omit<GateOptions, "onExposed"> & { keepExposedKeys: boolean };
  /** What is known of disk and database file; absent where there is none. */
  storage?: {
    /** Throws `storage_full` when there is no room for new work. */
    requireRoom(fresh?: boolean): void;
    /** False once the database was found damaged. */
    isWhole(): boolean;
  };
  /** The database's file, which a thread opens to search; absent: it is in memory, and searched on this thread. */
  database?: string;
  /** What makes vectors of text; by default the built-in model and those of the operator's connections. */
  embedders?: Embedders;
  /** Absent where nobody looks: the API alone. */
  dashboard?: ConsoleOptions;
  /** Makes the backups that people download at the dashboard. */
  makeBackup?: MakeBackup;
  /** How long the audit log is kept; null is for ever. */
  audit_days?: number | null;
  /** Where clients reach this server, without a path; webhooks are told to answer there. */
  publicUrl?: () => string;
  /** What holds the code of code tools; absent: there is none. */
  sandbox?: { level(): Promise<SandboxLevel>; known(): SandboxLevel | null };
  /** The operator's collector, which gets the trace of every run that ends; null for none. */
  otlpTarget?: OtlpTarget | null;
  /** Where Ollama is looked for when nobody says where it is. */
  ollama?: string;
  /** How long one attempt to reach a webhook may take; 15 s. */
  webhook_attempt_ms?: number;
  now?: () => number;
}

export type App = ReturnType<typeof createApp>;

const lastUsedEvery_ms = 60_000;
// A run that remembers something waits so long until it could find it again.
const indexedWithin_ms = 5000;
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
  database,
  embedders: givenEmbedders,
  dashboard,
  makeBackup,
  audit_days = 365,
  publicUrl = () => "http://127.0.0.1",
  sandbox = { level: async () => "off", known: () => "off" },
  otlpTarget = null,
  ollama,
  webhook_attempt_ms = 15_000,
  now = Date.now,
}: AppOptions) {
  const closing = new AbortController();
  const started_at_ms = now();
  const dataDir = database === undefined ? null : dirname(database);
  const audit = createAudit({ db, now });
  const projects = createProjectStore({ db, audit, now });
  const keys = createKeyStore({ db, audit, now });
  const connections = createConnectionStore({ db, audit, seal, environment, ollama, now });
  const prices = createPriceStore({ db, audit, now });
  const policyOf = (environment: Environment) => ({ ...egress, loopback: egress.loopback && environment === "test" });
  const guards = { test: createEgress(policyOf("test")), live: createEgress(policyOf("live")) };
  const secrets = createSecretStore({ db, seal, audit, now });
  const stdioServers = readStdioServers(environment);
  const stdio = createStdioServers({ servers: stdioServers, log });
  const listTools: ListTools = async (environment, server, allowed, timeout_ms) => {
    const client = createMcpClient({ egress: guards[environment], stdio });
    try {
      return await client.listTools(server, allowed, { timeout_ms, signal: closing.signal });
    } finally {
      void client.close();
    }
  };
  const tools = createToolStore({
    db,
    audit,
    seal,
    egress: (environment) => guards[environment],
    secrets,
    hasAgent: (viewer, id) => agents.has(viewer, id),
    fileFacts: (viewer, ids, param) => files.facts(viewer, ids, param),
    hasStdioServer: (name) => Object.hasOwn(stdioServers, name),
    sandboxLevel: sandbox.level,
    listTools,
    now,
  });
  const agents = createAgentStore({
    db,
    audit,
    now,
    modelAvailable: connections.isAvailable,
    requireThere: connections.requireThere,
    toolSnapshots: tools.snapshots,
    memoryFacts: (scope, id) => memoryStores.facts(scope, id),
  });

  const blobs = createFileBlobs({
    db,
    onError: (error) => log.error("content that no file has any more could not be deleted", { error }),
    now,
  });
  const outbox = createOutbox({ db, now });
  const announced = () => dispatcher.wake(outbox.take());
  const embedders = givenEmbedders ?? createEmbedders({ resolve: (model) => connections.resolve(model, "live"), log });
  const searcher = createSearcher({ path: database ?? null, sqlite: db.sqlite, log });
  const reader = createDocumentReader({ level: sandbox.level });
  const documentChunks = createDocumentChunks({ db });
  const documentWork = createDocumentWork({ db, now });
  const fileEntries = createFileEntries({ db, now });
  const processing = createProcessing({
    ...{ db, blobs, work: documentWork, chunks: documentChunks, reader, indexedOf: fileEntries.of, log, announced },
    announce: outbox.announce,
    onRead() {
      indexer.wake();
      attachments.wake();
    },
  });
  const files = createFileStore({
    ...{ db, blobs, audit, work: documentWork, chunks: documentChunks, announced, now },
    memory: {
      ...fileEntries,
      add: (scope, order, expires_at_ms) => memoryEntries.addFile(scope, order, expires_at_ms),
      forget: (scope, id) => memoryEntries.forgetFile(scope, id),
    },
    process() {
      processing.wake();
      indexer.wake();
    },
    removed(id) {
      processing.forget(id);
      attachments.wake();
    },
    announce: (scope, file) => outbox.announce(scope, "file.ready", file),
  });
  const memorySweeper = createMemorySweeper({
    db,
    forgetStore: searcher.forget,
    onError: (error) => log.error("memory that nobody finds any more could not be deleted", { error }),
    now,
  });
  /** What waited for an entry or a store that is gone goes on. */
  const onMemoryDeleted = () => {
    memorySweeper.collectSoon();
    void processing.look().catch(() => {}); // A timer looks again.
  };
  const memoryStores = createMemoryStores({
    ...{ db, audit, now, onDelete: onMemoryDeleted },
    embeddings: createEmbeddingChooser({ embedders }),
    progressOf: (store) => indexer.progressOf(store),
    onEmbedding: () => indexer.changed(),
  });
  const memoryEntries = createEntryStore({
    ...{ db, audit, stores: memoryStores, fileFor: files.document, onDelete: onMemoryDeleted, now },
    indexer: { wake: () => indexer.wake(), settled: (id, ms) => indexer.settled(id, ms) },
  });
  const memoryKeys = createMemoryKeys({ db, stores: memoryStores, now });
  const searchMemory = createMemorySearch({ db, stores: memoryStores, searcher, embedders, now });
  const indexer = createIndexer({
    ...{ db, embedders, log, now, ended: announced },
    documents: {
      reading: files.reading,
      chunks: documentChunks.read,
      demand: (scope, id, chunking) => documentWork.demand({ ...scope, id }, chunking),
      settle: processing.settle,
    },
    demanded: processing.wake,
    forget: searcher.forget,
  });
  const outputs = createOutputs({ files, now });
  const attachments = createAttachments({
    ...{ db, now },
    read: (scope, id, length) => files.part(scope, id, 0, length)?.part ?? null,
  });
  const readPart = (scope: Scope, id: string, start: number, length: number) => {
    const found = files.part(scope, id, start, length);
    return found && { filename: found.filename, bytes: found.bytes, content: found.part.toBase64() };
  };
  const receiver = createReceiver({ blobs, requireRoom: () => storage?.requireRoom(true) });

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
  const firings = createFirings({ db, audit, now });
  const projectRun = createRunProjector(db.sqlite);
  const projectors = [
    createUsageProjector(db.sqlite),
    createThreadProjector(db.sqlite, (runId) => unlessDamaged(() => fold(journal.read(runId)))),
    outputs.project,
    firings.project,
    outbox.project,
  ];
  const journal = createJournal({
    db,
    project: (head, entries) => {
      projectRun(head, entries);
      const now = happening(entries);
      if (now.length > 0) for (const project of projectors) project(head, now);
    },
    wake(runId, entries) {
      for (const { event } of entries) if (event.type === "tool.completed" && event.files) outputs.forget(event.files);
      reservations.committed(runId, entries);
      watches.committed(runId, entries);
      push?.committed(runId, entries);
      dispatcher.wake(outbox.take());
    },
    now,
  });
  const record = createRecorder({ db, audit, now });
  const dispatcher = createDispatcher({
    ...{ db, seal, record, log, now, attempt_ms: webhook_attempt_ms },
    payloads: createPayloads({ db, journal }),
    egress: (environment) => guards[environment],
  });
  const webhooks = createWebhookStore({
    ...{ db, audit, seal, now, trust: dispatcher.trust },
    egress: (environment) => guards[environment],
  });
  const deliveries = createDeliveryStore({ db, audit, dispatcher, record, now });
  const usage = createUsageStore({ db });
  const dayBudgets = createDayBudgets({ usage, settings: projects.settingsOf, now });
  const reservations = createReservations({ dayBudgets, headOf: journal.head });
  const hasDayBudget = ({ project_id }: Scope) => projects.settingsOf(project_id).budget_per_day !== undefined;
  const runs = createRunStore({ db, journal, audit });
  const threads = createThreadStore({ db, audit, now });
  const otlp = createOtlpSource({ db, journal });
  const push = otlpTarget && createOtlpPush({ target: otlpTarget, journal, otlp, log });
  const traces = createTraceStore({ db, journal, otlp });
  const workspace = createWorkspace(dataDir && join(dataDir, "capsules"));
  const requireRoomNow = () => storage?.requireRoom(true);
  const capsules = createCapsules({ db, journal, blobs, workspace, requireRoom: requireRoomNow, now });
  const capsuleReader = createCapsuleReader({ level: sandbox.level });
  const imports = createImports({ journal, audit, reader: capsuleReader, now });
  const importBody = createImportBody({ workspace, requireRoom: requireRoomNow });
  const tail = createRunStream({ journal, watches });
  const slots = ({ project_id }: Scope): number =>
    projects.settingsOf(project_id).runs_in_progress ?? defaultLimits.runs_in_progress;
  const childrenMax = ({ project_id }: Scope): number =>
    projects.settingsOf(project_id).children_per_run ?? defaultLimits.children_per_run;
  const slotsOrNoLimit = (scope: Scope): number => slots(scope) || Number.POSITIVE_INFINITY;
  // What an archived project has queued begins no more: it is about to be cancelled.
  const slotsToBegin = (scope: Scope): number => (projects.isOpen(scope.project_id) ? slotsOrNoLimit(scope) : 0);
  const openSecrets = (scope: Scope, toolId: string, sealed: string) =>
    resolveToolSecrets(openToolSecrets(seal, scope, toolId, sealed), (name) => secrets.value(scope, name));
  const refreshTools = (viewer: Viewer, agentId: string, overrides?: AgentOverrides) =>
    tools.refreshStale(viewer, agents.toolIds(viewer, agentId, overrides));
  const answerers: Answerers = {
    secrets: (scope, { tool_id, sealed }) => openSecrets(scope, tool_id, sealed),
    callback: (head, { tool_call_id }) => callbacks.addressOf(head, tool_call_id, now()),
    keep_file(_, { file_id, content }) {
      outputs.keep(file_id, content);
      return null;
    },
    sandbox: () => sandbox.level(),
    read_file: (scope, { file_id, start, length }) => readPart(scope, file_id, start, length),
    documents: (scope, order) => attachments.of(scope, order),
    reserve: (head, { worst }) => reservations.reserve(head, worst),
    model_place: (head, { connection }) => places.take(head, connection),
    start_child: (head, order) => service.startChild(head, order),
    history: (head, { max_messages }) => threads.history(head, runs.threadOf(head.run_id), max_messages),
    await_child: (_, { run_id }) => service.awaitChild(run_id),
    ...createMemoryAnswers({
      ...{ stores: memoryStores, search: searchMemory, entries: memoryEntries, keys: memoryKeys },
      indexed: (entryId) => indexer.settled(entryId, indexedWithin_ms),
      ownerOf: runs.ownerOf,
    }),
  };
  const places = createModelPlaces({ countOf: connections.maxConcurrent });
  const pool = createPool({
    journal,
    watches,
    prepare: (scope, agent) => ({
      ...connections.resolve(agent.model, scope.environment),
      secrets: secretsOf(scope, agent.tools),
      egress: policyOf(scope.environment),
      unknown_price: projects.settingsOf(scope.project_id).unknown_price,
      day_budget: hasDayBudget(scope),
    }),
    answer: createAnswers(answerers),
    insert: (...args) => service.insertDriven(...args),
    hasDayBudget,
    places,
    threads: workers === 0 ? sameThread : workerThread,
    size: workers,
    slots: slotsOrNoLimit,
    log,
    now,
  });
  const secretsOf = (scope: Scope, pinned: readonly ToolSnapshot[]) =>
    Object.fromEntries(
      pinned.flatMap((tool) => {
        const sealed = sealedOf(tool);
        return sealed === null ? [] : [[tool.id, openSecrets(scope, tool.id, sealed)]];
      }),
    );
  const bench = createBench({
    db,
    answerers,
    outputs,
    secretsOf,
    policyOf,
    warn: log.warn,
    now,
  });
  const testCall = createToolTest({ db, audit, tools, runTool: bench.runTool });
  const service = createRunService({
    db,
    journal,
    watches,
    pool,
    runs,
    snapshot: agents.snapshot,
    editAgent: agents.edited,
    requireThere: connections.requireThere,
    refreshTools,
    requireFiles: files.facts,
    threadOwner: threads.ownerOf,
    priceOf: prices.priceOf,
    windowOf: prices.windowOf,
    slots: slotsToBegin,
    childrenMax: (scope) => childrenMax(scope) || Number.POSITIVE_INFINITY,
    now,
  });

  const replays = createReplays({ journal, runs, snapshot: agents.snapshot, now });
  const callbacks = createCallbacks({ db, journal, watches, service, seal, baseUrl: publicUrl, log });

  const startScheduled: StartRun<RunObject> = (scope, order, requestId, note) =>
    service.create(scope, order, requestId, note);
  const scheduler = createScheduler({
    db,
    firings,
    start: startScheduled,
    requireRoom: () => storage?.requireRoom(),
    isOpen: projects.isOpen,
    log,
    now,
  });
  watches.listen(scheduler.heard);
  const schedules = createScheduleStore({
    db,
    audit,
    hasAgent: agents.has,
    checkRun: (viewer, agentId, { overrides, ...run }) =>
      requireScopeIds(agents.snapshot(viewer, agentId, overrides ?? {}), run),
    onPlan: scheduler.arm,
    now,
  });

  const suiteRuns = createSuiteRuns({ db, now });
  const suites = createSuiteStore({ db, audit, pin: createPin({ runs, journal }), suiteRuns, now });
  const liveRuns = createLiveRuns({ journal, runs, service, fork: service.fork, log, now });
  const performer = createPerformer({
    ...{ db, suiteRuns, live: liveRuns, isOpen: projects.isOpen, log },
    compare: createComparison({ journal, snapshot: (scope, agentId) => agents.snapshot(scope, agentId) }),
  });
  const suiteService = createSuiteService({ db, suites, suiteRuns, performer });

  /** The resources, once for keys under /v1 and once for people at the dashboard. */
  const resources = (auth: Auth, noLongerValid: NoLongerValid) =>
    new Elysia()
      .use(agentRoutes({ auth, agents }))
      .use(toolRoutes({ auth, tools, testCall }))
      .use(secretRoutes({ auth, secrets }))
      .use(fileRoutes({ auth, files, receiver }))
      .use(
        runRoutes({
          ...{ auth, journal, audit, runs, service, replays, tail, watches, noLongerValid },
          ...{ hasAgent: agents.has, closing: closing.signal },
        }),
      )
      .use(threadRoutes({ auth, threads }))
      .use(
        memoryRoutes({
          ...{ auth, stores: memoryStores, entries: memoryEntries, keys: memoryKeys, search: searchMemory },
        }),
      )
      .use(scheduleRoutes({ auth, schedules, firings, start: startScheduled, runAsOf: runs.asOf, now }))
      .use(suiteRoutes({ auth, suites, suiteRuns, service: suiteService, closing: closing.signal }))
      .use(traceRoutes({ auth, traces, forget: runs.forgetTrace }))
      .use(diffRoutes({ auth, traces }))
      .use(capsuleRoutes({ auth, capsules }))
      .use(importRoutes({ auth, traces, imports, body: importBody }))
      .use(keyRoutes({ auth, keys }))
      .use(auditRoutes({ auth, entries: createAuditStore({ db }) }))
      .use(usageRoutes({ auth, usage, now }))
      .use(modelRoutes({ auth, connections, prices }))
      .use(webhookRoutes({ auth, webhooks, deliveries }))
      .use(
        meRoutes({ auth, keys, limiter, projects, runs: { limit: slots, inProgress: runs.inProgress, childrenMax } }),
      );

  const onBug = (error: unknown, request_id: string) => log.error("a request met a bug", { request_id, error });
  const idempotency = createIdempotency({ db, seal, onBug, now });
  const clientOf = (request: Request): string | null => gate?.clientOf(request) ?? null;
  const authenticate = createKeyAuthenticate({ keys, limiter, clientOf });
  const identify = createIdentify({ authenticate, limiter, clientOf });
  const onRefused = createRefusals({ db, audit, routes: () => root.routes, log, now });
  const keyAuth = createAuth("key", {
    identify,
    authenticate,
    idempotency,
    onRefused,
    requestQueue: createRequestQueue(),
  });
  const root = new Elysia({ normalize: false });
  const openApi = createOpenApi(() => root.routes);
  const backups = createBackups({
    ...{ db, audit, dataDir, now, requireRoom: requireRoomNow },
    make: makeBackup ?? (() => Promise.reject(new Error("Nothing here makes backups."))),
  });
  /** What people at the dashboard reach that belongs to no project. */
  const ofServer = (signedIn: SignedIn) =>
    new Elysia()
      .use(connectionRoutes({ signedIn, connections, prices, tryConnection, db, audit }))
      .use(serverRoutes({ signedIn, backups, sandbox, dataDir, started_at_ms, openApi }));

  const app = root
    .wrap(idempotency.around)
    .use(
      createEdge({
        routes: () => root.routes,
        limiter,
        identify,
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
      healthRoutes(
        {
          database: () => db.sqlite.query("SELECT 1").get() !== null,
          integrity: () => storage?.isWhole() ?? true,
          serving: () => !closing.signal.aborted,
        },
        () => ({ sandbox_level: sandbox.known() }),
      ),
    )
    .use(errorDocsRoutes())
    .use(
      callbackRoutes({
        callbacks,
        limiter,
        limitsOf: ({ project_id }) => projects.settingsOf(project_id),
        clientOf,
      }),
    )
    .group("/v1", (v1) =>
      v1
        .use(resources(keyAuth, ({ id }) => keys.noLongerValid(id)))
        .use(openApiRoutes({ auth: keyAuth, document: openApi })),
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
            idempotency,
            onRefused,
            closing: closing.signal,
            resources,
            ofServer,
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
  const forgetters = [
    idempotency.forgetExpired,
    forgetAudit,
    files.forgetExpired,
    blobs.forgetUnused,
    memoryKeys.forgetExpired,
    memorySweeper.forgetExpired,
    memorySweeper.forgetDeleted,
    deliveries.forget,
  ];
  const retention = createRetention({ db, projects, runs, forgetters, log, now });
  retention.start();
  const windDown = createWindDown({
    ...{ db, projects, cancel: service.cancel, log },
    eraseFirst: memorySweeper.eraseOfProject,
  });
  windDown.start();

  return {
    app: app as unknown as Elysia,
    projects,
    threads,
    keys,
    connections,
    prices,
    dayBudgets,
    watches,
    pool,
    idempotency,
    files,
    memoryStores,
    memoryEntries,
    memoryKeys,
    searchMemory,
    /** Reads documents, and indexes what is to be found; both begin with `recover`. */
    processing,
    indexer,
    /** Takes up what an earlier process left unfinished. Answers how many runs that were. */
    async recover(): Promise<number> {
      blobs.collectSoon();
      // What was archived meanwhile may not begin again, not even for a moment.
      await windDown.cancelAll().catch((error) => log.error("runs of an archived project go on", { error }));
      const recovered = await service.recover();
      await callbacks.recover();
      dispatcher.load();
      memorySweeper.collectSoon();
      processing.start();
      indexer.start();
      scheduler.start();
      performer.recover();
      return recovered;
    },
    /** For tests: answers when no document is read, nothing indexed, and nothing that was deleted goes any more. */
    async idle(): Promise<void> {
      await processing.idle();
      await indexer.idle();
      await Promise.all([files.idle(), memorySweeper.collect(), blobs.collect()]);
    },
    /** Deletes what is older than its project keeps, now; a timer does so every few minutes. */
    sweep: retention.sweep,
    /** For tests: what performs suites; it goes on with `recover`. */
    performer,
    /** What starts runs by the clock; begins with `recover`. */
    scheduler,
    /** Ends what goes on in archived and deleted projects and erases the latter, now; a timer does so every second. */
    windDown: windDown.finish,
    /** Sends what webhooks are still to hear and is due, now; commits and a timer do so else. */
    deliverWebhooks: dispatcher.drain,
    /** Refuses new work and ends the streams; steps in flight are left to the next start. */
    async stop(): Promise<void> {
      closing.abort();
      clearInterval(lastUsed);
      const quiet = Promise.all([scheduler.stop(), performer.stop()]);
      callbacks.stop();
      service.stop();
      pool.stop();
      bench.stop();
      await Promise.all([processing.stop(), indexer.stop()]);
      reader.stop();
      capsuleReader.stop();
      backups.stop();
      workspace.close();
      searcher.stop();
      await Promise.all([
        quiet,
        retention.stop(),
        windDown.stop(),
        stdio.close(),
        blobs.stop(),
        dispatcher.stop(),
        push?.stop(),
        files.stop(),
        memorySweeper.stop(),
        embedders.stop(),
      ]);
      // A full disk may not keep the process from ending: the next start then takes this for a crash.
      for (const write of [runs.markCleanStop, keys.writeLastUsed])
        await write().catch((error) => log.error("the end was not noted in the database", { error }));
    },
  };
}
