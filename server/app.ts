import { createDashboardApiModule, type DashboardOptions } from "./dashboard-api/module.ts";
import { type BaseOptions, createBase } from "./http/base.ts";
import { createHttpModule, type HttpOptions } from "./http/create-http.ts";
import { createLifecycle } from "./http/lifecycle.ts";
import { createMount } from "./http/module.ts";
import { createLateRef } from "./lib/late-ref.ts";
import { pushBody } from "./protocols/a2a/tasks.ts";
import { createProtocols } from "./protocols/module.ts";
import { createAgentsNamed } from "./resources/agents/agents-named.ts";
import { createHasAgent } from "./resources/agents/has-agent.ts";
import { createAgentsModule } from "./resources/agents/module.ts";
import { type AuditOptions, createAuditModule } from "./resources/audit/module.ts";
import { createChatModule } from "./resources/chat/module.ts";
import { createFilesModule } from "./resources/files/module.ts";
import type { FileMemory } from "./resources/files/store.ts";
import { createSearchModule } from "./resources/full-text-search/module.ts";
import { createKeysModule, type KeyOptions } from "./resources/keys/module.ts";
import { createLabelsModule } from "./resources/labels/module.ts";
import { createAgentResolver } from "./resources/labels/resolve-agent.ts";
import { createMemoryModule, type MemoryOptions } from "./resources/memory/module.ts";
import { type ConnectionOptions, createConnectionsModule } from "./resources/model-connections/module.ts";
import { createOAuthModule } from "./resources/oauth/module.ts";
import { createProjectsModule, createProjectTeardownModule } from "./resources/projects/module.ts";
import { createSchedulesModule } from "./resources/schedules/module.ts";
import { createSecretsModule } from "./resources/secrets/module.ts";
import { createSkillsModule } from "./resources/skills/module.ts";
import { createSnippetsModule } from "./resources/snippets/module.ts";
import { createThreadsModule } from "./resources/threads/module.ts";
import { createToolsModule, createToolTestsModule } from "./resources/tools/module.ts";
import { createTracesModule, type TraceOptions } from "./resources/traces/module.ts";
import { createTriggerDeliveries } from "./resources/triggers/deliveries.ts";
import { createTriggersModule } from "./resources/triggers/module.ts";
import { createUsageModule } from "./resources/usage/module.ts";
import { createWebhooksModule, type WebhookOptions } from "./resources/webhooks/module.ts";
import { createConsentLinks } from "./runs/consent/consent-links.ts";
import { consentRoutes } from "./runs/consent/routes.ts";
import { createRunsModule, type RunOptions } from "./runs/module.ts";
import { createRunProjection } from "./runs/run-projection.ts";
import { type AlertOptions, createAlertsModule } from "./services/alerts/module.ts";
import { createUsersModule } from "./services/end-users/module.ts";
import { createSuitesModule } from "./services/evals/module.ts";
import { createMetricsModule, type MetricsOptions } from "./services/metrics/module.ts";
import { createScoresModule } from "./services/scores/module.ts";
import { createCallbackUrls } from "./services/webhook-tool-callbacks/callback-urls.ts";
import { createCallbacksModule } from "./services/webhook-tool-callbacks/module.ts";
import { createJournalModule } from "./storage/journal/module.ts";

/** Options of the server: those of all its modules. */
export type AppOptions = BaseOptions &
  (HttpOptions & KeyOptions & AuditOptions & ConnectionOptions & WebhookOptions & MemoryOptions) &
  (RunOptions & TraceOptions & MetricsOptions & AlertOptions & DashboardOptions);

export type App = ReturnType<typeof createApp>;

/** Creates all modules in the order of their layers: each gets the modules that it uses. */
export function createApp(options: AppOptions) {
  const { base, ending, close } = createBase(options);
  const http = createHttpModule({ base, options });
  const audit = createAuditModule({ base, options, http });
  const journals = createJournalModule({ ...base, projectRun: createRunProjection(base.db.sqlite) });
  const projects = createProjectsModule({ base });
  const connections = createConnectionsModule({ base, options });
  const secrets = createSecretsModule({ base });
  const oauth = createOAuthModule({ base, projects, connections, naming: options.cluster !== undefined });
  const links = createConsentLinks({ base, naming: options.cluster !== undefined });
  const webhooks = createWebhooksModule({
    base,
    options,
    journals,
    serializeFollowed: pushBody,
    linksOf: links.ofProject,
  });
  const fileMemory = createLateRef<FileMemory>("memory");
  const files = createFilesModule({ base, journals, webhooks, memory: fileMemory });
  const usage = createUsageModule({ base, journals, projects, connections });
  const memory = createMemoryModule({ base, options, connections, files, webhooks, usage });
  fileMemory.provide(memory.ofFiles);
  const hasAgent = createHasAgent(base.db);
  const resolver = createAgentResolver({ db: base.db, agentsNamed: createAgentsNamed(base.db), hasAgent });
  const tools = createToolsModule({ base, secrets, oauth, files, hasAgent, resolver });
  const snippets = createSnippetsModule({ base });
  const skills = createSkillsModule({ base, journals, files });
  const agents = createAgentsModule({
    base,
    connections,
    tools,
    memory,
    hasAgent,
    resolver,
    secrets,
    snippets,
    skills,
  });
  const labels = createLabelsModule({ base, journals, webhooks, hasAgent, resolver });
  const search = createSearchModule({ base, journals });
  const threads = createThreadsModule({ base, journals, files });
  const callbackUrls = createCallbackUrls({ base, naming: options.cluster !== undefined });
  const triggerDeliveries = createTriggerDeliveries(base);
  const forgetters = [audit, connections, oauth, skills, files, memory, webhooks].flatMap(
    ({ deleteExpired }) => deleteExpired,
  );
  const runs = createRunsModule({
    base,
    options,
    journals,
    projects,
    connections,
    files,
    usage,
    memory,
    tools,
    oauth,
    skills,
    agents,
    threads,
    resolver,
    callbackAddressOf: callbackUrls.addressOf,
    links,
    forgetters: [http.idempotency.forgetExpired, triggerDeliveries.forgetExpired, ...forgetters],
  });
  const teardown = createProjectTeardownModule({
    base,
    projects,
    cancelRun: runs.service.cancel,
    eraseMemory: memory.sweeper.eraseOfProject,
    beforeErasing: oauth.leaveProject,
  });
  const toolTests = createToolTestsModule({ base, tools, runTool: runs.runTool });
  const traces = createTracesModule({ base, options, journals, files, forgetTrace: runs.store.forgetTrace });
  const callbacks = createCallbacksModule({ base, http, journals, projects, runs, urls: callbackUrls });
  const schedules = createSchedulesModule({
    base,
    journals,
    projects,
    resolver,
    startRun: runs.startRun,
    runAsOf: runs.store.asOf,
    checkRun: runs.checkRun,
    checkInput: runs.checkInput,
    onRunCommit: (hear) => runs.watches.listen(hear),
  });
  const triggers = createTriggersModule({
    base,
    http,
    projects,
    agents,
    resolver,
    threads,
    deliveries: triggerDeliveries,
    startRun: runs.service.create,
    checkRun: runs.checkRun,
    naming: options.cluster !== undefined,
  });
  const suites = createSuitesModule({ base, journals, projects, agents, runs });
  const scores = createScoresModule({ base, runs, labels });
  const chat = createChatModule({ base, agents, resolver });
  const users = createUsersModule({ base, journals, projects, usage, files, memory, threads, schedules, runs, oauth });
  const metrics = createMetricsModule({ base, options, http, journals, connections, webhooks, usage, runs });
  const alerts = createAlertsModule({ base, options, projects, usage, webhooks });
  const keys = createKeysModule({
    base,
    options,
    http,
    agents,
    projects,
    resolver,
    threads,
    chat,
    run: runs.store.standing,
    runLimits: runs.limits,
  });

  /** Resources in the order of the API's OpenAPI document. */
  const resources = [
    agents,
    labels,
    chat,
    tools,
    toolTests,
    oauth,
    skills,
    secrets,
    snippets,
    files,
    runs,
    scores,
    threads,
    memory,
    schedules,
    triggers,
    suites,
    traces,
    keys,
    audit,
    usage,
    search,
    connections,
    webhooks,
    keys.me,
    users,
  ];
  const { onRefused } = audit;
  const dashboard = createDashboardApiModule({
    base,
    options,
    http,
    projects,
    connections,
    runs,
    alerts,
    onRefused,
    resources: createMount(resources),
  });
  const protocols = createProtocols({
    base,
    http,
    journals,
    connections,
    memory,
    agents,
    resolver,
    threads,
    chat,
    keys,
    webhooks,
    runs,
    memberOf: dashboard.memberOf,
  });
  const app = http.serve({
    authenticate: keys.authenticate,
    noLongerValid: keys.noLongerValid,
    onRefused,
    resources: createMount([...resources, keys.clientTokens]),
    callbacks: callbacks.plugin,
    consents: consentRoutes({
      consents: runs.consents,
      connections: connections.consents,
      http,
      projects,
      browsers: oauth.browsers,
      log: base.log,
    }),
    triggers: triggers.plugin,
    oauth: oauth.plugin,
    metrics: metrics.plugin,
    dashboard: dashboard.console,
    protocols,
  });
  /** Modules in the order of their start. */
  const parts = [
    teardown,
    webhooks,
    files,
    memory,
    tools,
    oauth,
    skills,
    connections,
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
    connections,
  ];
  const life = createLifecycle(parts, { log: base.log, ending, close });

  return {
    app,
    routes: http.routes,
    projects: projects.store,
    connections: connections.store,
    prices: connections.prices,
    files: files.store,
    blobs: files.blobs,
    processing: files.processing,
    performer: suites.performer,
    scheduler: schedules.scheduler,
    runs: runs.store,
    watches: runs.watches,
    pool: runs.pool,
    sweep: runs.sweep,
    keys: keys.store,
    oauth: oauth.accessTokens,
    oauthRevocations: oauth.revocations,
    threads: threads.store,
    search,
    memory,
    idempotency: http.idempotency,
    /** Returns the person signed in to the dashboard for a request, or null. */
    personOf: dashboard.personOf,
    staysSignedIn: dashboard.staysSignedIn,
    backups: dashboard.backups,
    /** Moves projects between the cells of a cluster. */
    moving: {
      ...runs.leaving,
      ...life.moving,
      /** Resolves once no token is being issued for the project. Call before its rows leave. */
      depart: oauth.openRequests.close,
      renew(projectId: string): void {
        life.moving.renew(projectId);
        oauth.openRequests.reopen(projectId);
      },
    },
    /** Cleans up archived and deleted projects now, without waiting for the timer. */
    windDown: teardown.finish,
    /** Checks the alerts now, without waiting for the timer. */
    checkAlerts: alerts.store.check,
    /** Sends due webhook deliveries now, without waiting for a commit or the timer. */
    deliverWebhooks: webhooks.deliver,
    /** Resumes the unfinished work of the last process. Returns the number of recovered runs. */
    async recover(): Promise<number> {
      await life.start();
      return runs.recovered();
    },
    stop: life.stop,
  };
}
