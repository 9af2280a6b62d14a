import type { AgentSnapshot } from "../domain/agent-snapshot.ts";
import type { ShownMedia } from "../domain/run-input.ts";
import { openStep } from "../domain/run-state.ts";
import type { Scope } from "../domain/scope.ts";
import type { Viewer } from "../http/auth.ts";
import { invalid } from "../http/errors.ts";
import { onAbort } from "../lib/on-abort.ts";
import type { Audit } from "../storage/db/audit.ts";
import type { Db } from "../storage/db/open.ts";
import type { Journal } from "../storage/journal/journal.ts";
import { createCallAuthorization } from "./consent/authorize-calls.ts";
import { createChildStarts } from "./create/child-starts.ts";
import { createNewRuns, type NewRunOptions } from "./create/new-runs.ts";
import { createSubmissions } from "./create/submissions.ts";
import type { ChildStatuses } from "./dispatch/child-status.ts";
import { createChildren } from "./dispatch/children.ts";
import type { DispatchGate } from "./dispatch/dispatch-gate.ts";
import type { Pool } from "./dispatch/pool.ts";
import { createCancelAndExpire } from "./end/cancel-and-expire.ts";
import { createDeadlines } from "./end/deadlines.ts";
import type { RunTerminator } from "./end/terminate-run.ts";
import { createForks, type EditAgent } from "./fork/fork.ts";
import { createPauses } from "./pause/pause.ts";
import type { PauseEvents } from "./pause/pause-events.ts";
import { createRunQueue } from "./queue/queue.ts";
import { type BeginThread, createThreadQueue, type ThreadOwnerOf } from "./queue/thread-queue.ts";
import type { OrphanedRuns } from "./recovery/orphaned-runs.ts";
import { createPendingWrites, type PendingWrites } from "./recovery/pending-writes.ts";
import { createQuarantine, noSuspects } from "./recovery/quarantine.ts";
import type { RunRow } from "./run-row.ts";
import { createFitsRun } from "./steer/fits-run.ts";
import { createSteering } from "./steer/steer.ts";
import { createThreadSteering } from "./steer/steer-thread.ts";
import type { RunStore } from "./store.ts";
import type { RunSubscriptions } from "./stream/run-subscriptions.ts";

type CreationOptions = Pick<NewRunOptions, "snapshot" | "priceOf" | "now"> &
  Partial<
    Pick<
      NewRunOptions,
      | "refreshTools"
      | "requireModelAvailable"
      | "requirePrice"
      | "requireFiles"
      | "mediaOf"
      | "windowOf"
      | "fallbacksOf"
      | "onCreated"
      | "chooseVersion"
    >
  >;

interface RunServiceOptions extends CreationOptions {
  db: Db;
  audit: Audit;
  journal: Journal;
  watches: RunSubscriptions;
  runs: RunStore;
  standings: ChildStatuses;
  ends: RunTerminator;
  pauseEvents: PauseEvents;
  lost: OrphanedRuns;
  gate: DispatchGate;
  pool: Pool;
  editAgent?: EditAgent;
  /** Returns the user and session of a thread; throws if the thread does not exist. */
  threadOwner?: ThreadOwnerOf;
  beginThread?: BeginThread;
  /** Maximum number of runs of a scope in progress. */
  slots(scope: Scope): number;
  /** Maximum number of descendants of one root run. */
  childrenMax?(scope: Scope): number;
  /** Retried writes between parents and children; replaced in tests. */
  due?: PendingWrites;
  /** Milliseconds for which a group of suspects runs alone. */
  quarantine_ms?: number;
  /** Milliseconds between polls of queues and the wall clock. */
  look_ms?: number;
}

export type RunService = ReturnType<typeof createRunService>;

/** Creates, forks, recovers and ends runs, and handles submitted tool outputs. */
export function createRunService({ quarantine_ms, look_ms, ...options }: RunServiceOptions) {
  const { db, audit, journal, watches, runs, ends, lost, gate, pool, slots, snapshot, now } = options;
  const {
    refreshTools = () => undefined,
    requireModelAvailable = async () => {},
    requirePrice = () => {},
    windowOf = () => null,
    mediaOf = () => noMedia,
    childrenMax = () => Number.POSITIVE_INFINITY,
    due = createPendingWrites(pool),
    editAgent = (_, agent, { instructions = agent.instructions, model = agent.model }) => ({
      ...agent,
      instructions,
      model,
    }),
    threadOwner = () => ({ user_id: null, session_id: null }),
    beginThread = () => {},
    chooseVersion = (_, { version }) => ({ version, label: null }),
  } = options;
  const quarantine = createQuarantine({ db, journal, watches, only: gate.only, quarantine_ms });
  const queue = createRunQueue({ journal, watches, runs, pool, slots, look_ms, now });
  const threadQueue = createThreadQueue({
    runs,
    ownerOf: threadOwner,
    begin: beginThread,
    insertCancelled: ends.cancelled,
  });
  const children = createChildren({ ...options, due });
  const childStarts = createChildStarts({
    ...options,
    childrenMax,
    requirePrice,
    windowOf,
    chooseVersion,
    snapshot: (scope, agentId, version, key) => snapshot(scope, agentId, undefined, version, key),
    refreshTools: (scope, agentId, version, key) => refreshTools(scope, agentId, undefined, version, key),
  });
  const create = createNewRuns({
    ...options,
    queue,
    threadQueue,
    chooseVersion,
    refreshTools,
    requireModelAvailable,
    mediaOf,
    requirePrice,
    windowOf,
    requireFiles: options.requireFiles ?? (() => {}),
  });
  const submit = createSubmissions({
    journal,
    runs,
    pool,
    ends,
    insertAbove: children.insertAbove,
    mediaOf,
    audit,
    now,
  });
  const authorization = createCallAuthorization({ journal, pool, insertAbove: children.insertAbove, now });
  const steer = createSteering({ journal, runs, pool, ends, mediaOf });
  const { cancel, expire } = createCancelAndExpire({ journal, runs, pool, ends });
  const { pause, resume } = createPauses({ ...options, start: startRecorded });
  const deadlines = createDeadlines(db.sqlite, expire, now, { headOf: journal.head, every_ms: look_ms });
  const fork = createForks({
    ...options,
    queue,
    editAgent,
    requireModelAvailable,
    mediaOf,
    requirePrice,
    windowOf,
    snapshot: freshSnapshot,
  });
  // A run that begins to wait may get an earlier deadline.
  const unlisten = watches.listen(deadlines.look);

  async function freshSnapshot(scope: Viewer, agentId: string, key: string): Promise<AgentSnapshot> {
    await refreshTools(scope, agentId, undefined, null, key);
    return snapshot(scope, agentId, undefined, null, key);
  }

  /** Resolves when the run is over or requires action, after `ms`, or when a signal is aborted. */
  async function settled(runId: string, ms: number, signals: readonly AbortSignal[] = []): Promise<void> {
    const watch = watches.join(runId);
    const forget = onAbort(signals, watch.leave);
    try {
      const end = performance.now() + ms;
      for (let seenCommits = -1; ; ) {
        if (watch.commits() !== seenCommits && !isUnderWay(journal.head(runId))) return;
        seenCommits = watch.commits();
        const remaining_ms = end - performance.now();
        if (remaining_ms <= 0 || !(await watch.next(remaining_ms, "commits"))) return;
      }
    } finally {
      forget();
      watch.leave();
    }
  }

  /** At boot: recovers every run in progress from its last completed step. */
  async function recover(): Promise<number> {
    children.endOrphans();
    const unfinished = runs.unfinished();
    const clean = await runs.takeCleanStop().catch(() => false); // A full disk must not prevent the start.
    const diagnosis = clean ? noSuspects : quarantine.diagnose(unfinished);
    quarantine.prepare(diagnosis);
    await Promise.all(unfinished.map((id) => pool.recover(id, !diagnosis.blamed.has(id))));
    lost.allKnown();
    void quarantine.hold(diagnosis);
    deadlines.load();
    queue.load();
    children.settleAll();
    return unfinished.length;
  }

  function openModelCall(runId: string): ReturnType<typeof openStep> {
    try {
      return openStep(journal.state(runId), "model_call");
    } catch {
      return undefined; // Its recovery will report that it cannot be read.
    }
  }

  /** Drives a run. The start of its model call may be recorded by an earlier process, or by another node. */
  function startRecorded(runId: string): void {
    const step = openModelCall(runId);
    if (step) watches.resume(runId, step.anchor, step.step_index);
    pool.start(runId);
  }

  /** Resumes runs that arrived from another node, where they were drained. */
  function takeUp(): void {
    for (const id of runs.unfinished()) if (!pool.drives(id)) startRecorded(id);
    deadlines.load();
    queue.load();
    children.settleAll();
  }

  function stop(): void {
    unlisten();
    childStarts.stop();
    children.stop();
    due.stop();
    quarantine.stop();
    queue.stop();
    deadlines.stop();
  }

  return {
    create: createThreadSteering({ runs, create, fitsRun: createFitsRun({ journal, snapshot }), steer }),
    fork,
    submit,
    authorization,
    steer,
    cancel,
    pause,
    resume,
    settled,
    recover,
    takeUp,
    stop,
    /** Call after a project's runs have left this node. */
    forgetGone(): void {
      deadlines.forgetGone();
      watches.keepOnly((id) => journal.head(id) !== null);
    },
    /** Starts the child run of a call, or returns the existing one. */
    startChild: childStarts.start,
    /** Resolves when a child run is over or requires action. */
    awaitChild: children.standing,
  };
}

const isUnderWay = (head: Pick<RunRow, "status"> | null): boolean =>
  head?.status === "in_progress" || head?.status === "queued";

/** Default without a file store: no message may reference a file. */
const noMedia: ShownMedia = {
  fetch: () => undefined,
  of(_, path) {
    throw invalid(path, "There are no files here.");
  },
  keep() {},
  kept() {},
};
