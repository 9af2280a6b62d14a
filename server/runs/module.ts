import type { AgentSnapshot } from "../domain/agent-snapshot.ts";
import { everyAgent } from "../domain/handoff.ts";
import { judgeModels } from "../domain/judge-models.ts";
import { defaultLimits } from "../domain/project-settings.ts";
import type { RunCreated } from "../domain/run-event.ts";
import { placedParts } from "../domain/run-input.ts";
import type { RunObject } from "../domain/run-object.ts";
import type { Scope } from "../domain/scope.ts";
import type { Base, Module } from "../http/module.ts";
import { createEventEmitter } from "../lib/event-emitter.ts";
import { createLateRef } from "../lib/late-ref.ts";
import type { AgentsModule } from "../resources/agents/module.ts";
import type { FilesModule } from "../resources/files/module.ts";
import type { AgentResolver } from "../resources/labels/module.ts";
import type { MemoryModule } from "../resources/memory/module.ts";
import type { ConnectionsModule } from "../resources/model-connections/module.ts";
import type { RefusalStore } from "../resources/model-connections/refusal-store.ts";
import type { OAuthModule } from "../resources/oauth/module.ts";
import type { ProjectsModule } from "../resources/projects/module.ts";
import type { ScheduleStoreOptions } from "../resources/schedules/store.ts";
import type { StartRun } from "../resources/schedules/trigger.ts";
import type { SkillsModule } from "../resources/skills/module.ts";
import type { ThreadsModule } from "../resources/threads/module.ts";
import type { ToolsModule } from "../resources/tools/module.ts";
import type { UsageModule } from "../resources/usage/module.ts";
import type { Asks, RunStart } from "../runtime/agent-loop/messages.ts";
import type { RunHead } from "../storage/journal/journal.ts";
import type { Journals } from "../storage/journal/module.ts";
import type { ConsentLinks } from "./consent/consent-links.ts";
import { createConsents } from "./consent/consents.ts";
import type { NewRunOptions } from "./create/new-runs.ts";
import { createPriceCheck } from "./create/require-price.ts";
import { runVariables } from "./create/run-variables.ts";
import { createChildStatuses } from "./dispatch/child-status.ts";
import { createDispatchGate } from "./dispatch/dispatch-gate.ts";
import { createMemoryRpc } from "./dispatch/memory-rpc.ts";
import { Pool } from "./dispatch/pool.ts";
import { createToolTests } from "./dispatch/tool-tests.ts";
import { createWorkerRpc, type RpcHandlers } from "./dispatch/worker-rpc.ts";
import { runInThisThread, withOrdering, workerThreads } from "./dispatch/worker-threads.ts";
import { createRetention, type DeleteExpired } from "./end/retention.ts";
import { createRunTerminator } from "./end/terminate-run.ts";
import { createPauseEvents } from "./pause/pause-events.ts";
import { createSlots } from "./queue/slots.ts";
import { createOrphanedRuns } from "./recovery/orphaned-runs.ts";
import { createReplays } from "./replay/replay.ts";
import { runRoutes } from "./routes.ts";
import { createRunsByUser } from "./runs-by-user.ts";
import { requireScopeIds } from "./scope-ids.ts";
import { createRunService, type RunService } from "./service.ts";
import { createRunStore } from "./store.ts";
import { RunSubscriptions } from "./stream/run-subscriptions.ts";
import { createSseResponder } from "./stream/sse-response.ts";
import { createRunStream } from "./stream/stream.ts";

export interface RunOptions {
  /** Number of worker threads; 0 runs the loops on the main thread. */
  workers: number;
  /** Holds messages to workers back until what they reveal is replicated. */
  ordering?: <T>(send: (order: T) => void) => (order: T) => void;
  /** End of the lease in ms since 1970: workers send requests only until then. Absent: no limit. */
  leadsUntil?: SharedArrayBuffer;
}

interface Needs {
  base: Base;
  options: RunOptions;
  journals: Journals;
  projects: ProjectsModule;
  connections: ConnectionsModule;
  files: FilesModule;
  usage: UsageModule;
  memory: MemoryModule;
  tools: ToolsModule;
  oauth: OAuthModule;
  skills: SkillsModule;
  agents: AgentsModule;
  threads: ThreadsModule;
  resolver: AgentResolver;
  /** Returns the URL at which a webhook tool sends a call's result. */
  callbackAddressOf(head: RunHead, callId: string, now: number): Asks["callback"]["answer"];
  links: ConsentLinks;
  /** Expiry of other tables. */
  forgetters: readonly DeleteExpired[];
}

// Maximum wait of a run for its new memory entry to become searchable.
const indexedWithin_ms = 5000;

export type RunsModule = ReturnType<typeof createRunsModule>;

/** Adds the parts of requests that the servers of a run's models are known to refuse. */
function withRefusals<Resolved extends Pick<RunStart, "connection" | "candidates">>(
  resolved: Resolved,
  refusals: Pick<RefusalStore, "of">,
) {
  const found = refusals.of([resolved.connection, ...(resolved.candidates ?? []).map(({ connection }) => connection)]);
  return Object.keys(found).length > 0 ? { ...resolved, refusals: found } : resolved;
}

/** Composes everything that drives runs. */
export function createRunsModule({ base, options, journals, callbackAddressOf, links, forgetters, ...modules }: Needs) {
  const { workers, ordering, leadsUntil } = options;
  const { projects, connections, files, usage, memory, tools, skills, agents, threads, resolver, oauth } = modules;
  const { db, audit, log, policyOf, sandbox, abortSignalOf, now } = base;
  const { journal } = journals;
  const { places, breakers, refusals } = connections;
  const { secretsOf } = tools;
  const limitsOf = ({ project_id }: Scope) => ({ ...defaultLimits, ...projects.store.settingsOf(project_id) });
  const inProgressMax = (scope: Scope): number => limitsOf(scope).runs_in_progress || Number.POSITIVE_INFINITY;
  const hasDayBudget = (scope: Scope): boolean => limitsOf(scope).budget_per_day !== undefined;

  const watches = new RunSubscriptions(now);
  journals.onCommit((runId, entries) => watches.committed(runId, entries));
  const runs = createRunStore({ db, journal, audit });
  const tail = createRunStream({ journal, watches, publicUrl: base.publicUrl });
  const created = createEventEmitter<[run: RunCreated, agent: AgentSnapshot]>();
  // Late, because the service needs the pool, whose workers ask for child runs.
  const serving = createLateRef<RunService>("run service");
  const answerers: RpcHandlers = {
    secrets: (scope, { tool_id, sealed }) => tools.openSecrets(scope, tool_id, sealed),
    model_headers: (scope, { headers }) => tools.modelHeaders(scope, headers),
    access_token: (head, { oauth_client_id, rejected, missing }) =>
      oauth.accessTokens.get(head, oauth_client_id, runs.ownerOf(head.run_id).user_id, rejected, missing),
    connection_token: (_, { source, rejected }) => connections.store.tokenOf(source, rejected),
    callback: (head, { tool_call_id }) => callbackAddressOf(head, tool_call_id, now()),
    keep_file({ run_id }, { file_id, content }) {
      files.outputs.keep(run_id, file_id, content);
      return null;
    },
    tools_changed(_, { tool_id }) {
      tools.store.noteChanged(tool_id);
      return null;
    },
    keep_content({ run_id }, { sha256, content }) {
      files.outputs.keepContent(run_id, sha256, content);
      return null;
    },
    read_content(head, order) {
      const part = files.workspaces.part(head, [head.run_id, runs.threadOf(head.run_id) ?? ""], order);
      return part && { content: part.toBase64() };
    },
    thread_workspace(head) {
      const thread = runs.threadOf(head.run_id);
      return thread === null ? null : files.workspaces.ofThread(head, thread);
    },
    sandbox: async () => ({ level: await sandbox.level(), python: sandbox.python }),
    read_file: (scope, { file_id, start, length }) => files.readPart(scope, file_id, start, length),
    made_file: (head, { reference }) => files.store.madeBy(head, head.run_id, reference),
    skill_files: (scope, { skill_id, version }) => skills.store.filesOf(scope, skill_id, version),
    read_skill_file(scope, { skill_id, version, path, start, length }) {
      const part = skills.store.part(scope, skill_id, version, path, start, length);
      return part && { content: part.toBase64() };
    },
    documents: (scope, order) => files.attachments.of(scope, order),
    page_images: (scope, order) => files.pageImages.of(scope, order),
    reserve: (head, { worst }) => usage.reservations.reserve(head, worst),
    model_place: (head, { connection }) => places.take(head, connection),
    admit_call: ({ run_id }, { models, wait_ms }) => breakers.admit(run_id, models, wait_ms),
    start_child: (head, order) => serving().startChild(head, order),
    history: (head, { max_messages }) => threads.store.history(head, runs.threadOf(head.run_id), max_messages),
    await_child: (_, { run_id }) => serving().awaitChild(run_id),
    ...createMemoryRpc({
      ...memory,
      indexed: (entryId) => memory.indexer.settled(entryId, indexedWithin_ms),
      ownerOf: runs.ownerOf,
    }),
  };
  const lost = createOrphanedRuns();
  const gate = createDispatchGate();
  const standings = createChildStatuses({ journal, runs });
  const ends = createRunTerminator({ journal, watches, runs, lost, children: standings, now });
  const pauseEvents = createPauseEvents({ journal, runs, lost, drives: (id): boolean => pool.drives(id) });
  const pool: Pool = new Pool({
    journal,
    watches,
    hasDayBudget,
    places,
    breakers,
    refusals,
    log,
    now,
    prepare: (scope, agent, models) => ({
      ...withRefusals(connections.store.resolveAll(models, scope.environment), refusals),
      secrets: secretsOf(
        scope,
        everyAgent(agent).flatMap(({ tools }) => tools),
      ),
      egress: policyOf(scope.environment),
      unknown_price: projects.store.settingsOf(scope.project_id).unknown_price,
      judge_prices: Object.fromEntries(
        everyAgent(agent).flatMap((each) => judgeModels(each).map((name) => [name, connections.prices.priceOf(name)])),
      ),
      day_budget: hasDayBudget(scope),
      model_trouble: breakers.hasTrouble(),
    }),
    answer: createWorkerRpc(answerers),
    insert: pauseEvents.withChildren(ends.driven),
    threads: withOrdering((workers === 0 ? runInThisThread : workerThreads)(leadsUntil), ordering),
    size: workers,
    slots: createSlots({ limit: inProgressMax }),
    gate,
    orphanedRuns: lost,
    onEarlyMessages: db.write.leaving,
    // The question is void. The user's answer may have come first: then this one is refused.
    onGaveUp(runId, tool_call_id) {
      const head = journal.head(runId);
      const answer = { tool_call_id, elicitation: { action: "cancel" as const } };
      if (head) service.submit(head, runId, [answer]).catch((error) => log.info("question was answered", { error }));
    },
  });
  const toolTries = createToolTests({
    db,
    answerers,
    accessToken: oauth.accessTokens.get,
    outputs: files.outputs,
    secretsOf,
    policyOf,
    fileOf: files.store.anyFile,
    log,
    now,
  });
  const refreshTools: NewRunOptions["refreshTools"] = (viewer, agentId, overrides, version, key) =>
    tools.store.refreshStale(viewer, agents.store.toolIds(viewer, agentId, overrides, version, key));
  const service = createRunService({
    db,
    audit,
    journal,
    watches,
    runs,
    standings,
    ends,
    pauseEvents,
    lost,
    gate,
    pool,
    refreshTools,
    now,
    snapshot: agents.store.snapshot,
    chooseVersion: resolver.choose,
    editAgent: agents.store.edited,
    threadOwner: threads.store.ownerOf,
    beginThread: (scope, thread, isNew) =>
      void (isNew ? threads.store.begin(scope, thread) : threads.store.chats.begin(thread.id)),
    requireModelAvailable: connections.store.requireModelAvailable,
    requireFiles: files.store.facts,
    mediaOf: files.store.mediaOf,
    onCreated(run, agent) {
      if (run.thread_id !== null) threads.store.chats.began(run, run.thread_id);
      created.tell(run, agent);
    },
    priceOf: connections.prices.priceOf,
    requirePrice: createPriceCheck({ priceOf: connections.prices.priceOf, settingsOf: projects.store.settingsOf }),
    windowOf: connections.prices.windowOf,
    fallbacksOf: connections.store.fallbacksOf,
    // Queued runs of an archived project do not begin: they are about to be cancelled.
    slots: (scope) => (projects.store.isOpen(scope.project_id) ? inProgressMax(scope) : 0),
    childrenMax: (scope) => limitsOf(scope).children_per_run || Number.POSITIVE_INFINITY,
  });
  serving.provide(service);
  const openStream = createSseResponder({ tail, watches, cancel: service.cancel, links, ending: abortSignalOf });
  const consents = createConsents({
    db,
    journal,
    watches,
    accessTokens: oauth.accessTokens,
    links,
    ...service.authorization,
    log,
  });
  const replays = createReplays({ journal, runs, snapshot: agents.store.snapshot, now });
  const retention = createRetention({ db, projects: projects.store, runs, forgetters, log, now });
  const startRun: StartRun<RunObject> = async (scope, order, requestId, note) =>
    (await service.create(scope, order, requestId, note)).shown();
  const checkRun: ScheduleStoreOptions["checkRun"] = (viewer, choice, { overrides, variables, ...run }) => {
    const key = run.user_id ?? "";
    const { version } = resolver.choose(viewer, choice, key);
    const agent = agents.store.snapshot(viewer, choice.agent_id, overrides ?? {}, version, key);
    requireScopeIds(agent, run);
    runVariables(agent, { request: variables, before: null });
  };
  const checkInput: ScheduleStoreOptions["checkInput"] = (viewer, input) => {
    const media = files.store.mediaOf(viewer, "input", null);
    // Each run fetches what is named by address.
    for (const { part, path } of placedParts(input)) if (part.url === undefined) media.of(part, path);
  };
  let recovered = 0;

  return {
    routes: (auth, noLongerValid) => [
      runRoutes({
        auth,
        journal,
        audit,
        runs,
        service,
        replays,
        watches,
        links,
        openStream,
        noLongerValid,
        ending: abortSignalOf,
        resolveAgent: resolver.resolve,
      }),
    ],
    store: runs,
    consents,
    service,
    pool,
    watches,
    tail,
    startRun,
    openStream,
    byUser: createRunsByUser({ db, runs }),
    /** Subscribes to runs inside the write that creates them. */
    onCreated: created.listen,
    sweep: retention.sweep,
    runTool: toolTries.runTool,
    checkRun,
    checkInput,
    limits: {
      limit: (scope: Scope): number => limitsOf(scope).runs_in_progress,
      childrenMax: (scope: Scope): number => limitsOf(scope).children_per_run,
      inProgress: runs.inProgress,
    },
    /** Number of runs recovered at start. */
    recovered: () => recovered,
    /** Drains a project before its transfer: runs finish their current step and stay there. */
    leaving: {
      park: (projectId: string) => pool.park(projectId),
      underWay: (projectId: string) => pool.underWay(projectId),
      stay: (projectId: string) => pool.unpark(projectId),
    },
    onProjectArrived(): void {
      service.takeUp();
      void consents.look();
    },
    onProjectLeaving: (projectId) => () => {
      pool.unpark(projectId);
      service.forgetGone();
    },
    async start(): Promise<void> {
      recovered = await service.recover();
      consents.start();
      runs.clear().catch((error) => log.error("what a crash left of long records was not deleted", { error }));
      retention.start();
    },
    stop(): Promise<void> {
      consents.stop();
      service.stop();
      pool.stop();
      toolTries.stop();
      return retention.stop();
    },
    recordShutdown: runs.markCleanStop,
  } satisfies Module;
}
