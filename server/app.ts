import { createDashboardApiModule, type DashboardOptions } from "./dashboard-api/module.ts";
import { type BaseOptions, createBase } from "./http/base.ts";
import { createHttpModule, type HttpOptions } from "./http/create-http.ts";
import { createLifecycle } from "./http/lifecycle.ts";
import { createMount } from "./http/module.ts";
import { createLateRef } from "./lib/late-ref.ts";
import { createProtocolsModule } from "./protocols/module.ts";
import { createAgentsModule } from "./resources/agents/module.ts";
import type { AgentStore } from "./resources/agents/store.ts";
import { type AuditOptions, createAuditModule } from "./resources/audit/module.ts";
import { createChatModule } from "./resources/chat/module.ts";
import { createFilesModule } from "./resources/files/module.ts";
import type { FileMemory } from "./resources/files/store.ts";
import { createSearchModule } from "./resources/full-text-search/module.ts";
import { createKeysModule, type KeyOptions } from "./resources/keys/module.ts";
import { createMemoryModule, type MemoryOptions } from "./resources/memory/module.ts";
import { type ConnectionOptions, createConnectionsModule } from "./resources/model-connections/module.ts";
import { createProjectsModule } from "./resources/projects/module.ts";
import { createSchedulesModule } from "./resources/schedules/module.ts";
import { createSecretsModule } from "./resources/secrets/module.ts";
import { createThreadsModule } from "./resources/threads/module.ts";
import { createToolsModule } from "./resources/tools/module.ts";
import { createTracesModule, type TraceOptions } from "./resources/traces/module.ts";
import { createUsageModule } from "./resources/usage/module.ts";
import { createWebhooksModule, type WebhookOptions } from "./resources/webhooks/module.ts";
import type { Followed } from "./resources/webhooks/payload.ts";
import { createRunsModule, type RunOptions, type RunPorts } from "./runs/module.ts";
import { createRunProjection } from "./runs/run-projection.ts";
import { type AlertOptions, createAlertsModule } from "./services/alerts/module.ts";
import { createUsersModule, type Learning } from "./services/end-users/module.ts";
import { createSuitesModule } from "./services/evals/module.ts";
import { createMetricsModule, type MetricsOptions } from "./services/metrics/module.ts";
import { createScoresModule } from "./services/scores/module.ts";
import { createCallbacksModule } from "./services/webhook-tool-callbacks/module.ts";
import type { Callbacks } from "./services/webhook-tool-callbacks/service.ts";
import { createJournalModule } from "./storage/journal/module.ts";

/** Options of the server: those of all its modules. */
export type AppOptions = BaseOptions &
  (HttpOptions & KeyOptions & AuditOptions & ConnectionOptions & WebhookOptions & MemoryOptions) &
  (RunOptions & TraceOptions & MetricsOptions & AlertOptions & DashboardOptions);

export type App = ReturnType<typeof createApp>;

/** Creates all modules in the order of their layers: each uses the ports of earlier ones. */
export function createApp(options: AppOptions) {
  // References to modules that are created later.
  const later = {
    memory: createLateRef<FileMemory & { eraseFirst(projectId: string): number }>("memory"),
    agents: createLateRef<Pick<AgentStore, "has">>("agents"),
    runs: createLateRef<Pick<RunPorts, "cancel" | "runTool">>("runs"),
    callbacks: createLateRef<Pick<Callbacks, "addressOf">>("callbacks"),
    followed: createLateRef<Followed>("followed"),
    learning: createLateRef<Learning>("learning"),
  };
  const { base, ending, close } = createBase({ ...options, ...later });
  const http = createHttpModule(base);
  const audit = createAuditModule({ ...base, routes: http.routes });
  const journals = createJournalModule({ ...base, projectRun: createRunProjection(base.db.sqlite) });
  const projects = createProjectsModule(base);
  const connections = createConnectionsModule(base);
  const secrets = createSecretsModule(base);
  const webhooks = createWebhooksModule({ ...base, journals });
  const files = createFilesModule({ ...base, journals, announcing: webhooks.exports });
  const above = { ...base, connections: connections.exports.connections, projects: projects.exports.projects };
  const usage = createUsageModule({ ...above, journals, connections: connections.exports });
  const memory = createMemoryModule({
    ...above,
    files: files.exports,
    announcing: webhooks.exports,
    usage: usage.exports,
  });
  const tools = createToolsModule({ ...above, secrets: secrets.exports, files: files.exports.files });
  const agents = createAgentsModule({ ...above, tools: tools.exports.tools, memory: memory.exports.stores });
  const search = createSearchModule({ ...base, journals });
  const threads = createThreadsModule({ ...base, journals, files: files.exports.files });
  const below = {
    ...above,
    http,
    journals,
    agents: agents.exports,
    usage: usage.exports,
    connections: connections.exports,
    tools: tools.exports,
    files: files.exports,
    memory: memory.exports,
    threads: threads.exports,
    webhooks: webhooks.exports,
  };
  const forgetters = [audit, files, memory, webhooks].flatMap(({ deleteExpired }) => deleteExpired);
  const runs = createRunsModule({ ...below, forgetters: [http.idempotency.forgetExpired, ...forgetters] });
  const shared = { ...below, runs: runs.exports };
  const traces = createTracesModule({ ...shared, blobs: files.exports.blobs });
  const callbacks = createCallbacksModule({ ...shared, naming: options.cluster !== undefined });
  const schedules = createSchedulesModule(shared);
  const suites = createSuitesModule(shared);
  const scores = createScoresModule({ ...base, runs: runs.exports.runs });
  const chat = createChatModule(shared);
  const users = createUsersModule({ ...shared, schedules: schedules.exports });
  const metrics = createMetricsModule({ ...shared, pool: runs.exports.pool });
  const alerts = createAlertsModule(shared);
  const keys = createKeysModule({
    ...shared,
    pages: chat.exports.pages,
    bound: { hasAgent: agents.exports.has, threadOwner: threads.exports.ownerOf, run: runs.exports.runs.standing },
  });

  later.memory.provide({ ...memory.exports.ofFiles, eraseFirst: memory.exports.eraseFirst });
  later.agents.provide(agents.exports);
  later.runs.provide(runs.exports);
  later.callbacks.provide(callbacks.exports);
  later.learning.provide(users.exports.learning);

  /** Resources in the order of the API's OpenAPI document. */
  const resources = [
    agents,
    chat,
    tools,
    secrets,
    files,
    runs,
    scores,
    threads,
    memory,
    schedules,
    suites,
    traces,
    keys,
    audit,
    usage,
    search,
    connections,
    webhooks,
    keys.exports.me,
    users,
  ];
  const { onRefused } = audit.exports;
  const dashboard = createDashboardApiModule({
    ...shared,
    alerts: alerts.exports,
    onRefused,
    resources: createMount(resources),
  });
  const doors = createProtocolsModule({
    ...shared,
    followers: webhooks.exports.followers,
    pages: chat.exports.pages,
    tokenForPage: keys.exports.tokenForPage,
    memberOf: dashboard.exports.memberOf,
  });
  later.followed.provide(doors.exports.followed);
  const app = http.serve({
    ...keys.exports,
    onRefused,
    resources: createMount([...resources, keys.exports.clientTokens]),
    callbacks: callbacks.exports.routes(),
    metrics: metrics.exports.routes(),
    dashboard: dashboard.exports.routes(),
    doors: doors.exports.doors,
  });
  const parts = [
    projects,
    webhooks,
    files,
    memory,
    tools,
    runs,
    traces,
    callbacks,
    schedules,
    suites,
    users,
    keys,
    dashboard,
    metrics,
    journals.ended,
    search,
    alerts,
  ];
  const life = createLifecycle(parts, { log: base.log, ending, close });

  return {
    app,
    routes: http.routes,
    ...projects.exports,
    ...connections.exports,
    ...usage.exports,
    ...files.exports,
    ...suites.exports,
    ...schedules.exports,
    runs: runs.exports.runs,
    watches: runs.exports.watches,
    pool: runs.exports.pool,
    sweep: runs.exports.sweep,
    keys: keys.exports.keys,
    threads: threads.exports,
    search: search.exports,
    memory: memory.exports,
    idempotency: http.idempotency,
    /** Returns the person signed in to the dashboard for a request, or null. */
    personOf: dashboard.exports.personOf,
    staysSignedIn: dashboard.exports.staysSignedIn,
    backups: dashboard.exports.backups,
    /** Moves projects between the cells of a cluster. */
    moving: { ...runs.exports.leaving, ...life.moving },
    /** Checks the alerts now, without waiting for the timer. */
    checkAlerts: alerts.exports.alerts.check,
    /** Sends due webhook deliveries now, without waiting for a commit or the timer. */
    deliverWebhooks: webhooks.exports.deliver,
    /** Resumes the unfinished work of the last process. Returns the number of recovered runs. */
    async recover(): Promise<number> {
      await life.start();
      return runs.exports.recovered();
    },
    stop: life.stop,
  };
}
