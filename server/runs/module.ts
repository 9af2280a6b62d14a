import { defaultLimits } from "../domain/project-settings.ts";
import { askedOf } from "../domain/run-input.ts";
import type { RunObject } from "../domain/run-object.ts";
import type { Scope } from "../domain/scope.ts";
import type { Viewer } from "../http/auth.ts";
import type { Base, Module } from "../http/module.ts";
import type { AgentOverrides } from "../http/schemas.ts";
import { createLateRef, type LateRef } from "../lib/late-ref.ts";
import type { AgentStore } from "../resources/agents/store.ts";
import type { createFilesModule } from "../resources/files/module.ts";
import type { createMemoryModule } from "../resources/memory/module.ts";
import type { createConnectionsModule } from "../resources/model-connections/module.ts";
import type { ProjectStore } from "../resources/projects/store.ts";
import type { ScheduleStoreOptions } from "../resources/schedules/store.ts";
import type { StartRun } from "../resources/schedules/trigger.ts";
import type { ThreadStore } from "../resources/threads/store.ts";
import type { createToolsModule } from "../resources/tools/module.ts";
import type { createUsageModule } from "../resources/usage/module.ts";
import type { Asks } from "../runtime/agent-loop/messages.ts";
import type { RunHead } from "../storage/journal/journal.ts";
import type { Journals } from "../storage/journal/module.ts";
import type { NewRunOptions } from "./create/new-runs.ts";
import { createChildStatuses } from "./dispatch/child-status.ts";
import { createDispatchGate } from "./dispatch/dispatch-gate.ts";
import { createMemoryRpc } from "./dispatch/memory-rpc.ts";
import { Pool } from "./dispatch/pool.ts";
import { createToolTests } from "./dispatch/tool-tests.ts";
import { createWorkerRpc, type RpcHandlers } from "./dispatch/worker-rpc.ts";
import { runInThisThread, withOrdering, workerThreads } from "./dispatch/worker-threads.ts";
import { createRetention, type DeleteExpired } from "./end/retention.ts";
import { createRunTerminator } from "./end/terminate-run.ts";
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
  journals: Journals;
  projects: ProjectStore;
  connections: ReturnType<typeof createConnectionsModule>["exports"];
  tools: ReturnType<typeof createToolsModule>["exports"];
  agents: AgentStore;
  files: ReturnType<typeof createFilesModule>["exports"];
  memory: ReturnType<typeof createMemoryModule>["exports"];
  threads: ThreadStore;
  usage: ReturnType<typeof createUsageModule>["exports"];
  learning: LateRef<Required<Pick<NewRunOptions, "onCreated">>>;
  callbacks: LateRef<{ addressOf(head: RunHead, callId: string, now: number): Asks["callback"]["answer"] }>;
  /** Expiry of other tables. */
  forgetters: readonly DeleteExpired[];
}

// Maximum wait of a run for its new memory entry to become searchable.
const indexedWithin_ms = 5000;

export type RunPorts = ReturnType<typeof createRunsModule>["exports"];

/** Composes everything that drives runs. */
export function createRunsModule({
  workers,
  ordering,
  leadsUntil,
  forgetters,
  callbacks,
  learning,
  ...base
}: Base & RunOptions & Needs) {
  const { db, audit, log, policyOf, sandbox, abortSignalOf, now } = base;
  const { projects, agents, files, memory, threads } = base;
  const { journal } = base.journals;
  const { connections, prices, places } = base.connections;
  const { tools, openSecrets, secretsOf } = base.tools;
  const { reservations } = base.usage;
  const limitsOf = ({ project_id }: Scope) => ({ ...defaultLimits, ...projects.settingsOf(project_id) });
  const inProgressMax = (scope: Scope): number => limitsOf(scope).runs_in_progress || Number.POSITIVE_INFINITY;
  const hasDayBudget = (scope: Scope): boolean => limitsOf(scope).budget_per_day !== undefined;

  const watches = new RunSubscriptions(now);
  base.journals.onCommit((runId, entries) => watches.committed(runId, entries));
  const runs = createRunStore({ db, journal, audit });
  const tail = createRunStream({ journal, watches, publicUrl: base.publicUrl });
  const serving = createLateRef<RunService>("the service of runs");
  const answerers: RpcHandlers = {
    secrets: (scope, { tool_id, sealed }) => openSecrets(scope, tool_id, sealed),
    callback: (head, { tool_call_id }) => callbacks().addressOf(head, tool_call_id, now()),
    keep_file({ run_id }, { file_id, content }) {
      files.outputs.keep(run_id, file_id, content);
      return null;
    },
    sandbox: () => sandbox.level(),
    read_file: (scope, { file_id, start, length }) => files.readPart(scope, file_id, start, length),
    documents: (scope, order) => files.attachments.of(scope, order),
    reserve: (head, { worst }) => reservations.reserve(head, worst),
    model_place: (head, { connection }) => places.take(head, connection),
    start_child: (head, order) => serving().startChild(head, order),
    history: (head, { max_messages }) => threads.history(head, runs.threadOf(head.run_id), max_messages),
    await_child: (_, { run_id }) => serving().awaitChild(run_id),
    ...createMemoryRpc({
      ...memory,
      indexed: (entryId) => memory.indexer.settled(entryId, indexedWithin_ms),
      ownerOf: runs.ownerOf,
    }),
  };
  const openStream = createSseResponder({ tail, watches, service: serving, ending: abortSignalOf });
  const lost = createOrphanedRuns();
  const gate = createDispatchGate();
  const standings = createChildStatuses({ journal, runs });
  const ends = createRunTerminator({ journal, watches, runs, lost, children: standings, now });
  const pool = new Pool({
    journal,
    watches,
    hasDayBudget,
    places,
    log,
    now,
    prepare: (scope, agent) => ({
      ...connections.resolve(agent.model, scope.environment),
      secrets: secretsOf(scope, agent.tools),
      egress: policyOf(scope.environment),
      unknown_price: projects.settingsOf(scope.project_id).unknown_price,
      day_budget: hasDayBudget(scope),
    }),
    answer: createWorkerRpc(answerers),
    insert: ends.driven,
    threads: withOrdering((workers === 0 ? runInThisThread : workerThreads)(leadsUntil), ordering),
    size: workers,
    slots: createSlots({ limit: inProgressMax }),
    gate,
    orphanedRuns: lost,
    onEarlyMessages: db.write.leaving,
  });
  const toolTries = createToolTests({ db, answerers, outputs: files.outputs, secretsOf, policyOf, log, now });
  const refreshTools = (viewer: Viewer, agentId: string, overrides?: AgentOverrides) =>
    tools.refreshStale(viewer, agents.toolIds(viewer, agentId, overrides));
  const service = createRunService({
    db,
    audit,
    journal,
    watches,
    runs,
    standings,
    ends,
    lost,
    gate,
    pool,
    refreshTools,
    now,
    snapshot: agents.snapshot,
    editAgent: agents.edited,
    threadOwner: threads.ownerOf,
    beginThread: (scope, thread, isNew) => void (isNew ? threads.begin(scope, thread) : threads.chats.begin(thread.id)),
    requireModelAvailable: connections.requireModelAvailable,
    requireFiles: files.files.facts,
    imagesOf: files.files.imagesOf,
    onCreated(run, agent) {
      if (run.thread_id !== null) threads.chats.began(run, run.thread_id);
      learning().onCreated(run, agent);
    },
    priceOf: prices.priceOf,
    windowOf: prices.windowOf,
    // Queued runs of an archived project do not begin: they are about to be cancelled.
    slots: (scope) => (projects.isOpen(scope.project_id) ? inProgressMax(scope) : 0),
    childrenMax: (scope) => limitsOf(scope).children_per_run || Number.POSITIVE_INFINITY,
  });
  serving.provide(service);
  const replays = createReplays({ journal, runs, snapshot: agents.snapshot, now });
  const retention = createRetention({ db, projects, runs, forgetters, log, now });
  const start: StartRun<RunObject> = async (scope, order, requestId, note) =>
    (await service.create(scope, order, requestId, note)).shown();
  const checkRun: ScheduleStoreOptions["checkRun"] = (viewer, agentId, { overrides, ...run }) =>
    requireScopeIds(agents.snapshot(viewer, agentId, overrides ?? {}), run);
  const checkInput: ScheduleStoreOptions["checkInput"] = (viewer, input) =>
    void askedOf(input, files.files.imagesOf(viewer, "input", null).of);
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
        openStream,
        noLongerValid,
        ending: abortSignalOf,
        hasAgent: agents.has,
      }),
    ],
    exports: {
      runs,
      service,
      pool,
      watches,
      tail,
      start,
      openStream,
      ofUser: createRunsByUser({ db, runs }),
      sweep: retention.sweep,
      runTool: toolTries.runTool,
      cancel: service.cancel,
      forgetTrace: runs.forgetTrace,
      asOf: runs.asOf,
      checkRun,
      checkInput,
      limit: (scope: Scope): number => limitsOf(scope).runs_in_progress,
      childrenMax: (scope: Scope): number => limitsOf(scope).children_per_run,
      inProgress: runs.inProgress,
      /** Number of runs recovered at start. */
      recovered: () => recovered,
      /** Drains a project before its transfer: runs finish their current step and stay there. */
      leaving: {
        park: (projectId: string) => pool.park(projectId),
        underWay: (projectId: string) => pool.underWay(projectId),
        stay: (projectId: string) => pool.unpark(projectId),
      },
    },
    onProjectArrived: service.takeUp,
    onProjectLeaving: (projectId) => () => {
      pool.unpark(projectId);
      service.forgetGone();
    },
    async start(): Promise<void> {
      recovered = await service.recover();
      runs.clear().catch((error) => log.error("what a crash left of long records was not deleted", { error }));
      retention.start();
    },
    stop(): Promise<void> {
      service.stop();
      pool.stop();
      toolTries.stop();
      return retention.stop();
    },
    recordShutdown: runs.markCleanStop,
  } satisfies Module;
}
