import { composeAgents } from "./agents/compose.ts";
import type { AgentStore } from "./agents/store.ts";
import { type AlertOptions, composeAlerts } from "./alerts/compose.ts";
import { type AuditOptions, composeAudit } from "./audit/compose.ts";
import { composeCallbacks } from "./callbacks/compose.ts";
import type { Callbacks } from "./callbacks/service.ts";
import { composeChat } from "./chat/compose.ts";
import { type ConnectionOptions, composeConnections } from "./connections/compose.ts";
import { composeConsole, type DashboardOptions } from "./console/compose.ts";
import { composeDoors } from "./doors/compose.ts";
import { composeFiles } from "./files/compose.ts";
import type { FileMemory } from "./files/store.ts";
import { type BaseOptions, createBase } from "./http/base.ts";
import { composeHttp, type HttpOptions } from "./http/compose.ts";
import { createLifecycle } from "./http/lifecycle.ts";
import { mounting } from "./http/part.ts";
import { composeJournal } from "./journal/compose.ts";
import { composeKeys, type KeyOptions } from "./keys/compose.ts";
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

/** What the server is made of; what one folder alone needs stands there. */
export type AppOptions = BaseOptions &
  (HttpOptions & KeyOptions & AuditOptions & ConnectionOptions & WebhookOptions & MemoryOptions) &
  (RunOptions & TraceOptions & MetricsOptions & AlertOptions & DashboardOptions);

export type App = ReturnType<typeof createApp>;

/** The folders in the order of their layers: each is made of those above it, and asks of those below by a port. */
export function createApp(options: AppOptions) {
  // What folders ask of those below: in the base until it is made, and then in its place.
  const later = {
    memory: createPort<FileMemory & { eraseFirst(projectId: string): number }>("memory"),
    agents: createPort<Pick<AgentStore, "has">>("agents"),
    runs: createPort<Pick<RunPorts, "cancel" | "runTool">>("runs"),
    callbacks: createPort<Pick<Callbacks, "addressOf">>("callbacks"),
    followed: createPort<Followed>("followed"),
    learning: createPort<Learning>("learning"),
  };
  const { base, ending, close } = createBase({ ...options, ...later });
  const http = composeHttp(base);
  const audit = composeAudit({ ...base, routes: http.routes });
  const journals = composeJournal({ ...base, projectRun: createRunProjector(base.db.sqlite) });
  const projects = composeProjects(base);
  const connections = composeConnections(base);
  const secrets = composeSecrets(base);
  const webhooks = composeWebhooks({ ...base, journals });
  const files = composeFiles({ ...base, journals, announcing: webhooks.ports });
  const above = { ...base, connections: connections.ports.connections, projects: projects.ports.projects };
  const usage = composeUsage({ ...above, journals, connections: connections.ports });
  const memory = composeMemory({ ...above, files: files.ports, announcing: webhooks.ports, usage: usage.ports });
  const tools = composeTools({ ...above, secrets: secrets.ports, files: files.ports.files });
  const agents = composeAgents({ ...above, tools: tools.ports.tools, memory: memory.ports.stores });
  const search = composeSearch({ ...base, journals });
  const threads = composeThreads({ ...base, journals, files: files.ports.files });
  const below = {
    ...above,
    http,
    journals,
    agents: agents.ports,
    usage: usage.ports,
    connections: connections.ports,
    tools: tools.ports,
    files: files.ports,
    memory: memory.ports,
    threads: threads.ports,
    webhooks: webhooks.ports,
  };
  const forgetters = [audit, files, memory, webhooks].flatMap(({ forget }) => forget);
  const runs = composeRuns({ ...below, forgetters: [http.idempotency.forgetExpired, ...forgetters] });
  const shared = { ...below, runs: runs.ports };
  const traces = composeTraces({ ...shared, blobs: files.ports.blobs });
  const callbacks = composeCallbacks({ ...shared, naming: options.cluster !== undefined });
  const schedules = composeSchedules(shared);
  const suites = composeSuites(shared);
  const scores = composeScores({ ...base, runs: runs.ports.runs });
  const chat = composeChat(shared);
  const users = composeUsers({ ...shared, schedules: schedules.ports });
  const metrics = composeMetrics({ ...shared, pool: runs.ports.pool });
  const alerts = composeAlerts(shared);
  const keys = composeKeys({
    ...shared,
    pages: chat.ports.pages,
    bound: { hasAgent: agents.ports.has, threadOwner: threads.ports.ownerOf, run: runs.ports.runs.standing },
  });

  later.memory.provide({ ...memory.ports.ofFiles, eraseFirst: memory.ports.eraseFirst });
  later.agents.provide(agents.ports);
  later.runs.provide(runs.ports);
  later.callbacks.provide(callbacks.ports);
  later.learning.provide(users.ports.learning);

  /** In the order in which the API's document tells of them. */
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
    keys.ports.me,
    users,
  ];
  const { onRefused } = audit.ports;
  const dashboard = composeConsole({ ...shared, alerts: alerts.ports, onRefused, resources: mounting(resources) });
  const doors = composeDoors({
    ...shared,
    followers: webhooks.ports.followers,
    pages: chat.ports.pages,
    tokenForPage: keys.ports.tokenForPage,
    memberOf: dashboard.ports.memberOf,
  });
  later.followed.provide(doors.ports.followed);
  const app = http.serve({
    ...keys.ports,
    onRefused,
    resources: mounting([...resources, keys.ports.clientTokens]),
    callbacks: callbacks.ports.routes(),
    metrics: metrics.ports.routes(),
    dashboard: dashboard.ports.routes(),
    doors: doors.ports.doors,
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
    ...projects.ports,
    ...connections.ports,
    ...usage.ports,
    ...files.ports,
    ...suites.ports,
    ...schedules.ports,
    runs: runs.ports.runs,
    watches: runs.ports.watches,
    pool: runs.ports.pool,
    sweep: runs.ports.sweep,
    keys: keys.ports.keys,
    threads: threads.ports,
    search: search.ports,
    memory: memory.ports,
    idempotency: http.idempotency,
    /** Who is signed in at the dashboard where a request comes from; null: nobody. */
    personOf: dashboard.ports.personOf,
    staysSignedIn: dashboard.ports.staysSignedIn,
    backups: dashboard.ports.backups,
    /** What moves projects between the cells of a cluster. */
    moving: { ...runs.ports.leaving, ...life.moving },
    /** Looks for what is not well, now; a timer does so else. */
    checkAlerts: alerts.ports.alerts.check,
    /** Sends what webhooks are still to hear and is due, now; commits and a timer do so else. */
    deliverWebhooks: webhooks.ports.deliver,
    /** Takes up what an earlier process left unfinished. Returns how many runs that were. */
    async recover(): Promise<number> {
      await life.start();
      return runs.ports.recovered();
    },
    stop: life.stop,
  };
}
