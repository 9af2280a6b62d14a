import type { AgentStore } from "../agents/store.ts";
import type { composeConnections } from "../connections/compose.ts";
import { defaultLimits } from "../core/project-settings.ts";
import { askedOf } from "../core/run-input.ts";
import type { RunObject } from "../core/run-object.ts";
import type { Scope } from "../core/scope.ts";
import type { composeFiles } from "../files/compose.ts";
import type { Viewer } from "../http/auth.ts";
import type { Base, Part } from "../http/part.ts";
import type { AgentOverrides } from "../http/schemas.ts";
import type { Journals } from "../journal/compose.ts";
import type { RunHead } from "../journal/journal.ts";
import { createPort, type Port } from "../lib/port.ts";
import type { composeMemory } from "../memory/compose.ts";
import type { ProjectStore } from "../projects/store.ts";
import type { StartRun } from "../schedules/fire.ts";
import type { ScheduleStoreOptions } from "../schedules/store.ts";
import type { ThreadStore } from "../threads/store.ts";
import type { composeTools } from "../tools/compose.ts";
import type { composeUsage } from "../usage/compose.ts";
import type { Asks } from "../worker/messages.ts";
import { type Answerers, createAnswers } from "./answers.ts";
import { createChildStandings } from "./child-standings.ts";
import { createEnds } from "./ends.ts";
import { createGate } from "./gate.ts";
import { createLostRuns } from "./lost-runs.ts";
import { createMemoryAnswers } from "./memory-answers.ts";
import type { NewRunOptions } from "./new-runs.ts";
import { createRunsOfUser } from "./of-user.ts";
import { createStreamOpener } from "./open-stream.ts";
import { createPool } from "./pool.ts";
import { createReplays } from "./replay.ts";
import { createRetention, type ForgetExpired } from "./retention.ts";
import { runRoutes } from "./routes.ts";
import { requireScopeIds } from "./scope-ids.ts";
import { createRunService, type RunService } from "./service.ts";
import { createSlots } from "./slots.ts";
import { createRunStore } from "./store.ts";
import { createRunStream } from "./stream.ts";
import { inTurn, onThisThread, workerThreads } from "./threads.ts";
import { createToolTries } from "./tool-tries.ts";
import { createWatches } from "./watch.ts";

export interface RunOptions {
  /** Threads for runs; 0 runs the loops on this thread. */
  workers: number;
  /** Holds orders to threads back for as long as nobody may hear of what they say. */
  ordering?: <T>(send: (order: T) => void) => (order: T) => void;
  /** The moment until which requests may leave threads, in ms since 1970; absent: always. */
  leadsUntil?: SharedArrayBuffer;
}

interface Needs {
  journals: Journals;
  projects: ProjectStore;
  connections: ReturnType<typeof composeConnections>["ports"];
  tools: ReturnType<typeof composeTools>["ports"];
  agents: AgentStore;
  files: ReturnType<typeof composeFiles>["ports"];
  memory: ReturnType<typeof composeMemory>["ports"];
  threads: ThreadStore;
  usage: ReturnType<typeof composeUsage>["ports"];
  learning: Port<Required<Pick<NewRunOptions, "begun">>>;
  callbacks: Port<{ addressOf(head: RunHead, callId: string, now: number): Asks["callback"]["answer"] }>;
  /** Whatever else has a time of its own. */
  forgetters: readonly ForgetExpired[];
}

// A run that remembers something waits so long until it could find it again.
const indexedWithin_ms = 5000;

export type RunPorts = ReturnType<typeof composeRuns>["ports"];

/** Everything that drives runs. */
export function composeRuns({
  workers,
  ordering,
  leadsUntil,
  forgetters,
  callbacks,
  learning,
  ...base
}: Base & RunOptions & Needs) {
  const { db, audit, log, policyOf, sandbox, ending, now } = base;
  const { projects, agents, files, memory, threads } = base;
  const { journal } = base.journals;
  const { connections, prices, places } = base.connections;
  const { tools, openSecrets, secretsOf } = base.tools;
  const { reservations } = base.usage;
  const limitsOf = ({ project_id }: Scope) => ({ ...defaultLimits, ...projects.settingsOf(project_id) });
  const inProgressMax = (scope: Scope): number => limitsOf(scope).runs_in_progress || Number.POSITIVE_INFINITY;
  const hasDayBudget = (scope: Scope): boolean => limitsOf(scope).budget_per_day !== undefined;

  const watches = createWatches(now);
  base.journals.onCommit(watches.committed);
  const runs = createRunStore({ db, journal, audit });
  const tail = createRunStream({ journal, watches, publicUrl: base.publicUrl });
  const serving = createPort<RunService>("the service of runs");
  const answerers: Answerers = {
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
    ...createMemoryAnswers({
      ...memory,
      indexed: (entryId) => memory.indexer.settled(entryId, indexedWithin_ms),
      ownerOf: runs.ownerOf,
    }),
  };
  const openStream = createStreamOpener({ tail, watches, service: serving, ending });
  const lost = createLostRuns();
  const gate = createGate();
  const standings = createChildStandings({ journal, runs });
  const ends = createEnds({ journal, watches, runs, lost, children: standings, now });
  const pool = createPool({
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
    answer: createAnswers(answerers),
    insert: ends.driven,
    threads: inTurn((workers === 0 ? onThisThread : workerThreads)(leadsUntil), ordering),
    size: workers,
    slots: createSlots({ limit: inProgressMax }),
    gate,
    lost,
    leaving: db.write.leaving,
  });
  const toolTries = createToolTries({ db, answerers, outputs: files.outputs, secretsOf, policyOf, log, now });
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
    requireThere: connections.requireThere,
    requireFiles: files.files.facts,
    imagesOf: files.files.imagesOf,
    begun(run, agent) {
      if (run.thread_id !== null) threads.chats.began(run, run.thread_id);
      learning().begun(run, agent);
    },
    priceOf: prices.priceOf,
    windowOf: prices.windowOf,
    // What an archived project has queued begins no more: it is about to be cancelled.
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
        ending,
        hasAgent: agents.has,
      }),
    ],
    ports: {
      runs,
      service,
      pool,
      watches,
      tail,
      start,
      openStream,
      ofUser: createRunsOfUser({ db, runs }),
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
      /** How many runs the start has taken up. */
      recovered: () => recovered,
      /** Runs of a project that is to leave come to the end of their steps, and stay there. */
      leaving: { park: pool.park, underWay: pool.underWay, stay: pool.unpark },
    },
    arrived: service.takeUp,
    leave: (projectId) => () => {
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
    noteEnd: runs.markCleanStop,
  } satisfies Part;
}
