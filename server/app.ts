import { dirname } from "node:path";
import { composeAgents } from "./agents/compose.ts";
import type { AgentStore } from "./agents/store.ts";
import { type AlertOptions, composeAlerts } from "./alerts/compose.ts";
import { type AuditOptions, composeAudit } from "./audit/compose.ts";
import { composeCallbacks } from "./callbacks/compose.ts";
import type { Callbacks } from "./callbacks/service.ts";
import { composeChat } from "./chat/compose.ts";
import { type ConnectionOptions, composeConnections } from "./connections/compose.ts";
import { composeConsole, type DashboardOptions } from "./console/compose.ts";
import { createAudit } from "./db/audit.ts";
import { composeA2a } from "./doors/a2a/compose.ts";
import { composeAgUi } from "./doors/ag-ui/compose.ts";
import { composeAiSdk } from "./doors/ai-sdk/compose.ts";
import { composeChatDoor } from "./doors/chat/compose.ts";
import { composeDurableStreams } from "./doors/durable-streams/compose.ts";
import { composeMcp } from "./doors/mcp/compose.ts";
import { composeOpenAi } from "./doors/openai/compose.ts";
import { composeFiles } from "./files/compose.ts";
import type { FileMemory } from "./files/store.ts";
import { composeHttp, type HttpOptions } from "./http/compose.ts";
import { type Base, mounting, type Part, stopParts } from "./http/part.ts";
import { composeJournal } from "./journal/compose.ts";
import { createEndedRuns } from "./journal/ended-runs.ts";
import { composeKeys, type KeyOptions } from "./keys/compose.ts";
import { createEgress, type EgressPolicy } from "./lib/egress.ts";
import { createNamedSignals } from "./lib/named-signals.ts";
import { createPort } from "./lib/port.ts";
import { composeMemory, type MemoryOptions } from "./memory/compose.ts";
import { composeMetrics, type MetricsOptions } from "./metrics/compose.ts";
import { composeProjects } from "./projects/compose.ts";
import { composeRuns, type RunOptions, type RunPorts } from "./runs/compose.ts";
import { createRunProjector } from "./runs/project.ts";
import { composeSchedules } from "./schedules/compose.ts";
import { composeScores } from "./scores/compose.ts";
import { composeSearch } from "./search/compose.ts";
import { composeSecrets } from "./secrets/compose.ts";
import { composeSuites } from "./suites/compose.ts";
import { composeThreads } from "./threads/compose.ts";
import { composeTools } from "./tools/compose.ts";
import { composeTraces, type TraceOptions } from "./traces/compose.ts";
import { composeUsage } from "./usage/compose.ts";
import { composeUsers, type Learning } from "./users/compose.ts";
import { composeWebhooks, type WebhookOptions } from "./webhooks/compose.ts";
import type { Followed } from "./webhooks/payload.ts";

type Given = Pick<Base, "db" | "seal" | "log" | "environment" | "database"> &
  Partial<Pick<Base, "sandbox" | "publicUrl" | "publicEgress" | "now">>;
/** What the server is made of; what one folder alone needs stands there. */
export type AppOptions = Given &
  (HttpOptions & KeyOptions & AuditOptions & ConnectionOptions & WebhookOptions & MemoryOptions) &
  (RunOptions & TraceOptions & MetricsOptions & AlertOptions & DashboardOptions) & {
    /** What users' addresses may reach; `loopback` counts in test environments only. */
    egress: EgressPolicy;
  };

export type App = ReturnType<typeof createApp>;

/** The folders in the order of their layers: each is made of those above it, and asks of those below by a port. */
export function createApp(options: AppOptions) {
  const { db, log, database, egress: policy, storage, sandbox, now = Date.now } = options;
  const closing = new AbortController();
  const ending = createNamedSignals(closing.signal);
  const policyOf: Base["policyOf"] = (of) => ({ ...policy, loopback: policy.loopback && of === "test" });
  const guards = { test: createEgress(policyOf("test")), live: createEgress(policyOf("live")) };
  const base = {
    ...{ ...options, policyOf, now, closing: closing.signal, ending: ending.signal },
    audit: createAudit({ db, now }),
    egress: (environment) => guards[environment],
    publicEgress: options.publicEgress ?? createEgress({ ...policy, allow: [], loopback: false }),
    dataDir: database === undefined ? null : dirname(database),
    sandbox: sandbox ?? { level: async () => "off", known: () => "off" },
    publicUrl: options.publicUrl ?? (() => "http://127.0.0.1"),
    requireRoom: (fresh) => storage?.requireRoom(fresh),
  } satisfies Base & Omit<AppOptions, "egress">;

  const later = {
    memory: createPort<FileMemory & { eraseFirst(projectId: string): number }>("memory"),
    agents: createPort<Pick<AgentStore, "has">>("agents"),
    runs: createPort<Pick<RunPorts, "cancel" | "runTool">>("runs"),
    callbacks: createPort<Pick<Callbacks, "addressOf">>("callbacks"),
    followed: createPort<Followed>("followed"),
    learning: createPort<Learning>("learning"),
  };

  const http = composeHttp(base);
  const audit = composeAudit({ ...base, routes: http.routes });
  const journals = composeJournal({ db, projectRun: createRunProjector(db.sqlite), now });
  const ended = createEndedRuns({ db, log, journal: journals.journal });
  const projects = composeProjects({ ...base, runs: later.runs, memory: later.memory });
  const connections = composeConnections(base);
  const secrets = composeSecrets(base);
  const webhooks = composeWebhooks({ ...base, journals, followed: later.followed });
  const files = composeFiles({ ...base, journals, announcing: webhooks.ports, memory: later.memory });
  const { priceOf } = connections.ports.prices;
  const usage = composeUsage({
    ...{ ...base, journals, ended, projects: projects.ports.projects, priceOf },
    inPlace: connections.ports.inPlace,
  });
  const memory = composeMemory({
    ...{ ...base, connections: connections.ports.connections, files: files.ports },
    ...{ announced: webhooks.ports.announced, pay: usage.ports.pay },
  });
  const tools = composeTools({
    ...{ ...base, secrets: secrets.ports, files: files.ports.files, agents: later.agents, runs: later.runs },
  });
  const agents = composeAgents({
    ...{ ...base, connections: connections.ports.connections, tools: tools.ports.tools, memory: memory.ports.stores },
  });
  const search = composeSearch({ ...base, ended });
  const threads = composeThreads({ ...base, journals, files: files.ports.files });
  const shared = { ...base, http, journals, projects: projects.ports.projects, agents: agents.ports };
  const runs = composeRuns({
    ...{ ...shared, connections: connections.ports, tools: tools.ports, files: files.ports, memory: memory.ports },
    ...{ threads: threads.ports, usage: usage.ports, callbacks: later.callbacks, learning: later.learning },
    forgetters: [http.idempotency.forgetExpired, ...[audit, files, memory, webhooks].flatMap(({ forget }) => forget)],
  });
  const traces = composeTraces({ ...shared, blobs: files.ports.blobs, runs: runs.ports });
  const callbacks = composeCallbacks({ ...shared, runs: runs.ports, naming: options.cluster !== undefined });
  const schedules = composeSchedules({ ...shared, runs: runs.ports });
  const suites = composeSuites({ ...shared, runs: runs.ports });
  const scores = composeScores({ ...base, runs: runs.ports.runs });
  const chat = composeChat(shared);
  const users = composeUsers({
    ...{ ...base, runs: runs.ports, threads: threads.ports, schedules: schedules.ports },
    ...{ memory: memory.ports, files: files.ports, journals, projects: projects.ports.projects },
    usage: usage.ports,
  });
  const metrics = composeMetrics({ ...shared, webhooks: webhooks.ports, pool: runs.ports.pool, usage: usage.ports });
  const alerts = composeAlerts({
    ...{ ...base, projects: projects.ports.projects, usage: usage.ports, webhooks: webhooks.ports },
  });
  const keys = composeKeys({
    ...{ ...shared, runs: runs.ports, pages: chat.ports.pages },
    bound: { hasAgent: agents.ports.has, threadOwner: threads.ports.ownerOf, run: runs.ports.runs.standing },
  });

  later.memory.provide({ ...memory.ports.ofFiles, eraseFirst: memory.ports.eraseFirst });
  later.agents.provide(agents.ports);
  later.runs.provide(runs.ports);
  later.callbacks.provide(callbacks.ports);
  later.learning.provide(users.ports.learning);

  /** In the order in which the API's document tells of them. */
  const resources = mounting([
    ...[
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
    ],
    ...[connections, webhooks, keys.ports.me, users],
  ]);
  const durableStreams = composeDurableStreams({ ...shared, runs: runs.ports });
  const mcp = composeMcp({ ...shared, agents: agents.ports, runs: runs.ports });
  const a2a = composeA2a({
    ...{ ...shared, agents: agents.ports, runs: runs.ports, followers: webhooks.ports.followers },
  });
  later.followed.provide(a2a.ports.followed);
  const openAi = composeOpenAi({
    ...{ ...shared, connections: connections.ports, runs: runs.ports, memory: memory.ports },
  });
  const { onRefused } = audit.ports;
  const aiSdk = composeAiSdk({ ...shared, runs: runs.ports, threads: threads.ports });
  const agUi = composeAgUi({ ...shared, runs: runs.ports, threads: threads.ports });
  const dashboard = composeConsole({
    ...{
      ...shared,
      connections: connections.ports,
      watches: runs.ports.watches,
      onRefused,
      resources,
      alerts: alerts.ports.alerts,
    },
  });
  const chatDoor = composeChatDoor({
    ...{ ...shared, pages: chat.ports.pages, threads: threads.ports, tokenForPage: keys.ports.tokenForPage },
    memberOf: dashboard.ports.memberOf,
  });
  const app = http.serve({
    ...{ ...keys.ports, onRefused },
    resources: (into, auth, noLongerValid) =>
      mounting([keys.ports.clientTokens])(resources(into, auth, noLongerValid), auth, noLongerValid),
    callbacks: callbacks.ports.routes(),
    metrics: metrics.ports.routes(),
    dashboard: dashboard.ports.routes(),
    doors: [
      ...[mcp.ports.routes, a2a.ports.routes, durableStreams.ports.routes, aiSdk.ports.routes],
      ...[agUi.ports.routes, chatDoor.ports.routes],
      ...openAi.ports.doors,
    ],
  });
  /** They start in this order and stop in reverse. */
  const parts: Part[] = [
    ...[projects, webhooks, files, memory, tools, runs, traces, callbacks, schedules, suites, users, keys, dashboard],
    ...[metrics, ended, search, alerts],
  ];

  return {
    app,
    routes: http.routes,
    ...{ ...projects.ports, ...connections.ports, ...usage.ports, ...files.ports, ...suites.ports },
    search: search.ports,
    ...{ ...schedules.ports, keys: keys.ports.keys, threads: threads.ports, idempotency: http.idempotency },
    ...{
      runs: runs.ports.runs,
      watches: runs.ports.watches,
      pool: runs.ports.pool,
      sweep: runs.ports.sweep,
      memory: memory.ports,
    },
    backups: dashboard.ports.backups,
    /** Who is signed in at the dashboard where a request comes from; null: nobody. */
    personOf: dashboard.ports.personOf,
    /** What moves projects between the cells of a cluster. */
    moving: {
      ...runs.ports.leaving,
      /** Just before its rows go. What it returns is to be called when they have gone. */
      leave(projectId: string): () => void {
        const stores = memory.ports.numbersOf(projectId);
        return () => {
          runs.ports.leaving.left(projectId);
          stores.forEach(memory.ports.forgetStore);
        };
      },
      /** Ends the streams of a project, and what waits there for a run. */
      end: ending.end,
      /** It stays, or has left: streams that begin from now on last. */
      renew: ending.renew,
      /** Takes up what has come with a project. */
      async arrived(): Promise<void> {
        for (const part of parts) await part.arrived?.();
      },
    },
    /** Looks for what is not well, now; a timer does so else. */
    checkAlerts: alerts.ports.alerts.check,
    /** Sends what webhooks are still to hear and is due, now; commits and a timer do so else. */
    deliverWebhooks: webhooks.ports.deliver,
    /** Takes up what an earlier process left unfinished. Returns how many runs that were. */
    async recover(): Promise<number> {
      for (const part of parts) await part.start?.();
      return runs.ports.recovered();
    },
    /** Refuses new work and ends the streams; steps in flight are left to the next start. */
    async stop(): Promise<void> {
      closing.abort();
      await stopParts(parts, log);
    },
  };
}
