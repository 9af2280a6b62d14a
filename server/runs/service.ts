import type { AgentSnapshot } from "../core/agent-snapshot.ts";
import type { ShownImages } from "../core/run-input.ts";
import { openStep } from "../core/run-state.ts";
import type { Scope } from "../core/scope.ts";
import type { Audit } from "../db/audit.ts";
import type { Db } from "../db/open.ts";
import type { Viewer } from "../http/auth.ts";
import { invalid } from "../http/errors.ts";
import type { Journal } from "../journal/journal.ts";
import { untilAborted } from "../lib/until-aborted.ts";
import type { ChildStandings } from "./child-standings.ts";
import { createChildStarts } from "./child-starts.ts";
import { createChildren } from "./children.ts";
import { createDeadlines } from "./deadlines.ts";
import { createDueWrites, type DueWrites } from "./due-writes.ts";
import { createEndings } from "./endings.ts";
import type { Ends } from "./ends.ts";
import { createForks, type EditAgent } from "./fork.ts";
import type { Gate } from "./gate.ts";
import type { LostRuns } from "./lost-runs.ts";
import { createNewRuns, type NewRunOptions } from "./new-runs.ts";
import type { Pool } from "./pool.ts";
import { createQuarantine, noSuspects } from "./quarantine.ts";
import { createRunQueue } from "./queue.ts";
import type { RunRow } from "./run-row.ts";
import type { RunStore } from "./store.ts";
import { createSubmissions } from "./submissions.ts";
import { type BeginThread, createThreadQueue, type ThreadOwnerOf } from "./thread-queue.ts";
import type { Watches } from "./watch.ts";

type Asked = Pick<NewRunOptions, "snapshot" | "priceOf" | "now"> &
  Partial<Pick<NewRunOptions, "refreshTools" | "requireThere" | "requireFiles" | "imagesOf" | "windowOf" | "begun">>;

interface RunServiceOptions extends Asked {
  db: Db;
  audit: Audit;
  journal: Journal;
  watches: Watches;
  runs: RunStore;
  standings: ChildStandings;
  ends: Ends;
  lost: LostRuns;
  gate: Gate;
  pool: Pool;
  editAgent?: EditAgent;
  /** Whom the runs of a thread are for; throws for a thread that is not there. */
  threadOwner?: ThreadOwnerOf;
  beginThread?: BeginThread;
  /** How many runs of a scope may be in progress at once. */
  slots(scope: Scope): number;
  /** How many runs may come of one run of a scope, by calls of agents. */
  childrenMax?(scope: Scope): number;
  /** Writes what runs have to note of one another; a fixture of tests looks on. */
  due?: DueWrites;
  /** How long a run that may be what brings the process down goes on alone. */
  quarantine_ms?: number;
  /** How often a queue, and the wall clock, is looked at when nothing happens. */
  look_ms?: number;
}

export type RunService = ReturnType<typeof createRunService>;

/** Starts runs, answers what they ask, and ends them. */
export function createRunService({ quarantine_ms, look_ms, ...options }: RunServiceOptions) {
  const { db, audit, journal, watches, runs, ends, lost, gate, pool, slots, snapshot, now } = options;
  const {
    refreshTools = () => undefined,
    requireThere = async () => {},
    windowOf = () => null,
    imagesOf = () => noImages,
    childrenMax = () => Number.POSITIVE_INFINITY,
    due = createDueWrites(pool),
    editAgent = (_, agent, { instructions = agent.instructions, model = agent.model }) => ({
      ...agent,
      instructions,
      model,
    }),
    threadOwner = () => ({ user_id: null, session_id: null }),
    beginThread = () => {},
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
    windowOf,
    snapshot: (scope, agentId) => snapshot(scope, agentId, undefined),
    refreshTools: (scope, agentId) => refreshTools(scope, agentId, undefined),
  });
  const create = createNewRuns({
    ...options,
    queue,
    threadQueue,
    refreshTools,
    requireThere,
    imagesOf,
    windowOf,
    requireFiles: options.requireFiles ?? (() => {}),
  });
  const submit = createSubmissions({ journal, runs, pool, ends, insertAbove: children.insertAbove, audit, now });
  const { cancel, expire } = createEndings({ journal, runs, pool, ends });
  const deadlines = createDeadlines(db.sqlite, expire, now, { headOf: journal.head, every_ms: look_ms });
  const fork = createForks({
    ...options,
    queue,
    editAgent,
    requireThere,
    imagesOf,
    windowOf,
    snapshot: freshSnapshot,
  });
  // A run that begins to wait may have to end sooner than it would have had to before.
  const unlisten = watches.listen(deadlines.look);

  async function freshSnapshot(scope: Viewer, agentId: string): Promise<AgentSnapshot> {
    await refreshTools(scope, agentId, undefined);
    return snapshot(scope, agentId, undefined);
  }

  /** Returns when the run is over or needs action, after `ms`, or when one of the signals is aborted. */
  async function settled(runId: string, ms: number, signals: readonly AbortSignal[] = []): Promise<void> {
    const watch = watches.join(runId);
    const forget = untilAborted(signals, watch.leave);
    try {
      const end = performance.now() + ms;
      for (let seen = -1; ; ) {
        if (watch.commits() !== seen && !isUnderWay(journal.head(runId))) return;
        seen = watch.commits();
        const left = end - performance.now();
        if (left <= 0 || !(await watch.next(left, "commits"))) return;
      }
    } finally {
      forget();
      watch.leave();
    }
  }

  /** At boot: every run that was in progress goes on from its last completed step. */
  async function recover(): Promise<number> {
    children.endOrphans();
    const unfinished = runs.unfinished();
    const clean = await runs.takeCleanStop().catch(() => false); // A full disk may not keep the server from reading.
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
      return undefined; // It cannot be read: what drives it will say so.
    }
  }

  /** Runs have come from elsewhere, at rest: they go on where they were. */
  function takeUp(): void {
    for (const id of runs.unfinished()) {
      if (pool.drives(id)) continue;
      const step = openModelCall(id);
      if (step) watches.goOn(id, step.anchor, step.step_index);
      pool.start(id);
    }
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
    create,
    fork,
    submit,
    cancel,
    settled,
    recover,
    takeUp,
    stop,
    /** The runs of a project have left. */
    forgetGone(): void {
      deadlines.forgetGone();
      watches.keepOnly((id) => journal.head(id) !== null);
    },
    /** Starts the child run of a call, or finds the one that was started. */
    startChild: childStarts.start,
    /** Returns when a child run is over or waits for somebody. */
    awaitChild: children.standing,
  };
}

const isUnderWay = (head: Pick<RunRow, "status"> | null): boolean =>
  head?.status === "in_progress" || head?.status === "queued";

/** Where there are no files, no message shows one. */
const noImages: ShownImages = {
  of(_, path) {
    throw invalid(path, "There are no files here.");
  },
  keep() {},
};
