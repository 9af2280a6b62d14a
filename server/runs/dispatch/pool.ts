import type { AgentSnapshot } from "../../domain/agent-snapshot.ts";
import { stallsMax } from "../../domain/decide.ts";
import type { JournalEntry } from "../../domain/run-event.ts";
import { isOver } from "../../domain/run-state.ts";
import { nameOf, type Scope } from "../../domain/scope.ts";
import type { Log } from "../../lib/log.ts";
import type { ModelPlaces } from "../../resources/model-connections/model-places.ts";
import type { FromWorker, Question, RunStart, ToWorker } from "../../runtime/agent-loop/messages.ts";
import { isStorageRefusal } from "../../storage/db/corruption.ts";
import { AppendRefused, type Journal, type RunHead } from "../../storage/journal/journal.ts";
import type { Slot, Slots } from "../queue/slots.ts";
import { bisect } from "../recovery/bisect.ts";
import type { OrphanedRuns } from "../recovery/orphaned-runs.ts";
import { createRecovery, type InsertDriven } from "../recovery/recovery.ts";
import type { RunSubscriptions } from "../stream/run-subscriptions.ts";
import { createAppendHandler } from "./append-handler.ts";
import type { DispatchGate } from "./dispatch-gate.ts";
import { createDraining } from "./draining.ts";
import { createWorkerSupervisor } from "./worker-supervisor.ts";
import type { WorkerFactory, WorkerThread } from "./worker-threads.ts";

/** Resolves what a run needs besides its journal: keys, addresses, policy. Throws `model_not_available`. */
type Prepare = (
  scope: Scope,
  agent: AgentSnapshot,
) => Pick<RunStart, "connection" | "model" | "secrets" | "egress" | "unknown_price" | "day_budget">;

/** Answers a question of a run's loop, now or later; the answer has the question's type in `Asks`. */
export type AnswerQuestion = (head: RunHead, question: Question) => unknown;

/** Data to drive a run: read from the journal, or in memory if the run was just created. */
interface DriveInput {
  history: JournalEntry[];
  agent: AgentSnapshot;
}

interface Drive {
  id: number;
  head: RunHead;
  owner: string;
  thread: WorkerThread;
  slot: Slot;
}

interface PoolOptions {
  journal: Journal;
  watches: RunSubscriptions;
  prepare: Prepare;
  answer: AnswerQuestion;
  insert: InsertDriven;
  orphanedRuns: OrphanedRuns;
  /** True if model calls of a scope must reserve a share of the daily budget. */
  hasDayBudget?(scope: Scope): boolean;
  /** Slots of connections with limited concurrency. */
  places?: Pick<ModelPlaces, "free" | "leave">;
  threads: WorkerFactory;
  /** Number of threads. */
  size: number;
  slots: Slots;
  gate: DispatchGate;
  /** Registers a callback for when messages that precede a commit have been sent. */
  onEarlyMessages?(onMessage: () => void): void;
  /** Milliseconds between pings. */
  beat_ms?: number;
  log: Log;
  now: () => number;
}

export type Pool = ReturnType<typeof createPool>;

/**
 * Assigns runs to workers and appends their events. A crashed worker's runs are recovered; late messages are fenced by
 * attempt number.
 */
export function createPool(options: PoolOptions) {
  const { journal, watches, prepare, answer, insert, orphanedRuns, slots, gate, log, now } = options;
  const { hasDayBudget = () => false, places = { free() {}, leave() {} } } = options;
  const drives = new Map<string, Drive>();
  // Runs to drive as soon as there is a thread and the gate admits them.
  const held = new Set<string>();
  let count = 0;
  let stopped = false;
  const threads = createWorkerSupervisor({
    threads: options.threads,
    beat_ms: options.beat_ms,
    log,
    hear: onMessage,
    died: onWorkerExit,
    most: Math.max(1, options.size),
    isStanding: true,
  });
  const recovery = createRecovery({
    journal,
    watches,
    insert,
    lost: orphanedRuns,
    log,
    now,
    start,
    abort,
    ended: threads.free,
  });
  const parking = createDraining({ journal });
  const appends = createAppendHandler({ journal, recovery, draining: parking, hasDayBudget, hold });
  gate.listen(release);
  options.onEarlyMessages?.(threads.flush);

  /** Drives a run in progress, now or as soon as its project and environment have a slot. */
  function start(runId: string, begun?: DriveInput): void {
    const head = drivable(runId);
    if (stopped || !head) return;
    if (slots.isOpen(head)) drive(head, begun);
    else slots.wait({ head, isStillNeeded: () => drivable(runId) !== null, begin: () => drive(journal.head(runId)!) });
  }

  function drivable(runId: string): RunHead | null {
    const head = journal.head(runId);
    if (head?.status !== "in_progress" || drives.has(runId) || orphanedRuns.has(runId)) return null;
    if (!isHeldBack(head)) return head;
    held.add(runId);
    return null;
  }

  const isHeldBack = ({ run_id, project_id }: RunHead): boolean =>
    threads.isEmpty() || parking.has(project_id) || !gate.admits(run_id);

  function release(): void {
    const waiting = [...held];
    held.clear();
    for (const id of waiting) start(id);
  }

  function drive(head: RunHead, begun?: DriveInput): void {
    const { run_id, attempt } = head;
    try {
      const { history, agent } = begun ?? readRecord(head);
      const owner = nameOf(head);
      const thread = threads.choose(run_id, owner, drives.values());
      const id = ++count;
      const order: ToWorker = {
        do: "start",
        start: { drive: id, run_id, attempt, history, agent, ...prepare(head, agent) },
      };
      drives.set(run_id, { id, head, owner, thread, slot: slots.take(head) });
      thread.send(order);
    } catch (error) {
      void recovery.end(run_id, attempt, error);
    }
  }

  function readRecord(head: RunHead): DriveInput {
    const history = journal.read(head.run_id);
    const created = history[0]?.event;
    if (created?.type !== "run.created") throw new Error(`Journal of ${head.run_id} has no beginning.`);
    return { history, agent: journal.snapshot(head, created.agent_hash) };
  }

  function onMessage(notice: FromWorker, thread: WorkerThread): void {
    if (notice.do === "warn") log.warn(notice.message, notice.fields);
    else if (notice.do === "free_place") places.free(notice.place);
    else if (notice.do === "delta") watches.delta(notice.run_id, notice.delta);
    else if (notice.do === "said") watches.said(notice.run_id, notice.anchor, notice.length);
    else if (notice.do === "append") void append(notice, thread);
    else if (notice.do === "ask") void answerQuestion(notice, thread);
    else if (notice.do === "left") onLoopExit(notice);
  }

  async function append(notice: Extract<FromWorker, { do: "append" }>, thread: WorkerThread): Promise<void> {
    await appends.append(notice, thread);
    const { run_id, attempt, leaves } = notice;
    if (leaves !== undefined && !stopped) onLoopExit({ do: "left", drive: leaves, run_id, attempt, fault: null });
  }

  /** Refuses questions of a superseded attempt, also if it is superseded while the answer is computed. */
  async function answerQuestion(
    { run_id, attempt, ticket, question }: Extract<FromWorker, { do: "ask" }>,
    thread: WorkerThread,
  ) {
    const currentHead = (): RunHead | null => {
      const head = journal.head(run_id);
      return head && head.attempt === attempt && !isOver(head.status) ? head : null;
    };
    try {
      const head = currentHead();
      const answered = head && (await withLentSlot(run_id, answer(head, question), question));
      if (head && currentHead()) return thread.send({ do: "answer", ticket, answer: answered });
    } catch (error) {
      if (isStorageRefusal(error)) recovery.unwritten(run_id, error);
      else if (!(error instanceof AppendRefused)) void recovery.end(run_id, attempt, error);
    }
    thread.send({ do: "refused", ticket });
  }

  /** Lends the run's slot while it waits for a child run. */
  async function withLentSlot(runId: string, answered: unknown, { of }: Question): Promise<unknown> {
    const drive = drives.get(runId);
    if (of !== "await_child" || !(answered instanceof Promise) || !drive || drive.head.depth === 0) return answered;
    drive.slot.lend();
    try {
      return await answered;
    } finally {
      drive.slot.takeBack();
    }
  }

  function onLoopExit({ drive, run_id, attempt, fault }: Extract<FromWorker, { do: "left" }>): void {
    appends.left(run_id, attempt);
    if (drives.get(run_id)?.id === drive) {
      drop(run_id);
      threads.free(run_id);
    }
    if (fault !== null) void recovery.end(run_id, attempt, new Error(fault));
    else start(run_id); // An answer may have come while the loop was leaving.
  }

  /** Removes a run from the driven ones and releases its slot. */
  function drop(runId: string): void {
    const drive = drives.get(runId);
    if (!drive) return;
    drives.delete(runId);
    places.leave(runId);
    drive.slot.release();
  }

  /** Aborts the loop of a run; the journal already has the reason. */
  function abort(runId: string): void {
    const drive = drives.get(runId);
    if (drive) {
      drop(runId);
      drive.thread.send({ do: "abort", drive: drive.id });
    }
    threads.free(runId);
  }

  /** Stops a run's loop; the run is driven again once it may be. */
  function hold(runId: string): void {
    abort(runId);
    held.add(runId);
  }

  /** Number of runs of a project that are still in a step, or to be recovered. */
  function underWay(projectId: string): number {
    const driven = [...drives.values()].filter(({ head }) => head.project_id === projectId);
    for (const { head } of driven) if (parking.onlyWaits(head.run_id)) hold(head.run_id);
    const left = driven.filter(({ head }) => drives.has(head.run_id)).length;
    return left + orphanedRuns.all().filter((id) => journal.head(id)?.project_id === projectId).length;
  }

  function onWorkerExit(dead: WorkerThread): () => void {
    const left = [...drives.values()].filter(({ thread }) => thread === dead).map(({ head }) => head.run_id);
    // A run that requires action does not need its thread.
    const orphaned = left.filter((id) => journal.head(id)?.status === "in_progress");
    orphaned.forEach(orphanedRuns.add);
    left.forEach(drop);
    return () => {
      recoverAll(orphaned);
      release();
    };
  }

  /**
   * Recovers a crashed worker's runs. Suspects are bisected over fewer and fewer companions until one crashes alone.
   */
  function recoverAll(orphaned: readonly string[]): void {
    const suspects = orphaned.length > 1 ? orphaned.filter(isLastChance) : [];
    bisect(suspects).forEach(threads.confine);
    for (const id of orphaned) void recovery.recover(id, suspects.includes(id));
  }

  function isLastChance(runId: string): boolean {
    try {
      const { status, stalls } = journal.state(runId);
      return status === "in_progress" && stalls >= stallsMax - 1;
    } catch {
      return false; // Recovery will report that it cannot be read.
    }
  }

  const { begin, recover, giveUp, ends } = recovery;
  return {
    start,
    abort,
    begin,
    recover,
    giveUp,
    ends,
    /** True if a loop works on the run. */
    drives: (runId: string): boolean => drives.has(runId),
    driving: () => drives.size,
    /** True if the run is held: it is driven as soon as it may be. */
    holds(runId: string): boolean {
      const head = held.has(runId) ? journal.head(runId) : null;
      return head !== null && isHeldBack(head);
    },
    /** Drains a project: its runs finish their current step and start no other. */
    park: parking.add,
    /** Returns the number of a drained project's runs that are still in a step. */
    underWay,
    /** Resumes the project's runs that are still here. */
    unpark(projectId: string): void {
      parking.delete(projectId);
      release();
    },
    stop(): void {
      stopped = true;
      recovery.stop();
      threads.stop();
    },
  };
}
