import type { ModelPlaces } from "../connections/model-places.ts";
import type { AgentSnapshot } from "../core/agent-snapshot.ts";
import { stallsMax } from "../core/decide.ts";
import type { JournalEntry } from "../core/run-event.ts";
import { isOver } from "../core/run-state.ts";
import { nameOf, type Scope } from "../core/scope.ts";
import { isStorageRefusal } from "../db/damage.ts";
import { AppendRefused, type Journal, type RunHead } from "../journal/journal.ts";
import type { Log } from "../lib/log.ts";
import type { Notice, Order, Question, RunStart } from "../worker/messages.ts";
import type { Gate } from "./gate.ts";
import { createLoopAppends } from "./loop-appends.ts";
import type { LostRuns } from "./lost-runs.ts";
import { createParking } from "./parking.ts";
import { createRecovery, type InsertDriven } from "./recovery.ts";
import { inShares } from "./shares.ts";
import type { Slot, Slots } from "./slots.ts";
import { createThreadSet } from "./thread-set.ts";
import type { Thread, ThreadFactory } from "./threads.ts";
import type { Watches } from "./watch.ts";

/** What a run needs besides its journal: keys, addresses, policy. Throws `model_not_available`. */
type Prepare = (
  scope: Scope,
  agent: AgentSnapshot,
) => Pick<RunStart, "connection" | "model" | "secrets" | "egress" | "unknown_price" | "day_budget">;

/** Answers what a run's loop asks, now or later; by a shape that fits the question (`Asks`). */
export type AnswerQuestion = (head: RunHead, question: Question) => unknown;

/** What a run is driven with: read from the journal, or at hand when it was just created. */
interface Begun {
  history: JournalEntry[];
  agent: AgentSnapshot;
}

interface Drive {
  id: number;
  /** Whose run it is. */
  head: RunHead;
  owner: string;
  thread: Thread;
  slot: Slot;
}

interface PoolOptions {
  journal: Journal;
  watches: Watches;
  prepare: Prepare;
  answer: AnswerQuestion;
  insert: InsertDriven;
  lost: LostRuns;
  /** Whether model calls of a scope have to be granted their share of a day's budget. */
  hasDayBudget?(scope: Scope): boolean;
  /** Who has a place at a server that takes so many calls at once. */
  places?: Pick<ModelPlaces, "free" | "leave">;
  threads: ThreadFactory;
  /** How many threads. */
  size: number;
  slots: Slots;
  gate: Gate;
  /** Tells when orders that go ahead of a commit have been given. */
  leaving?(hear: () => void): void;
  /** How often threads are asked for a sign of life. */
  beat_ms?: number;
  log: Log;
  now: () => number;
}

export type Pool = ReturnType<typeof createPool>;

/**
 * Hands runs to threads and their events to the journal. A thread that dies costs its runs a recovery, nothing more;
 * what a given-up loop still sends is refused by its attempt.
 */
export function createPool(options: PoolOptions) {
  const { journal, watches, prepare, answer, insert, lost, slots, gate, log, now } = options;
  const { hasDayBudget = () => false, places = { free() {}, leave() {} } } = options;
  const drives = new Map<string, Drive>();
  // Those that may be driven as soon as there is a thread, or the gate is open to them.
  const held = new Set<string>();
  let count = 0;
  let stopped = false;
  const threads = createThreadSet({
    threads: options.threads,
    beat_ms: options.beat_ms,
    log,
    hear,
    died,
    most: Math.max(1, options.size),
    isStanding: true,
  });
  const recovery = createRecovery({ journal, watches, insert, lost, log, now, start, abort, ended: threads.free });
  const parking = createParking({ journal });
  const appends = createLoopAppends({ journal, recovery, parking, hasDayBudget, hold });
  gate.listen(release);
  options.leaving?.(threads.flush);

  /** Drives a run that is in progress: now, or as soon as its project and environment have a slot. */
  function start(runId: string, begun?: Begun): void {
    const head = drivable(runId);
    if (stopped || !head) return;
    if (slots.isOpen(head)) drive(head, begun);
    else slots.wait({ head, isStill: () => drivable(runId) !== null, begin: () => drive(journal.head(runId)!) });
  }

  function drivable(runId: string): RunHead | null {
    const head = journal.head(runId);
    if (head?.status !== "in_progress" || drives.has(runId) || lost.has(runId)) return null;
    if (!mustWait(head)) return head;
    held.add(runId);
    return null;
  }

  const mustWait = ({ run_id, project_id }: RunHead): boolean =>
    threads.isEmpty() || parking.has(project_id) || !gate.admits(run_id);

  function release(): void {
    const waiting = [...held];
    held.clear();
    for (const id of waiting) start(id);
  }

  function drive(head: RunHead, begun?: Begun): void {
    const { run_id, attempt } = head;
    try {
      const { history, agent } = begun ?? recorded(head);
      const owner = nameOf(head);
      const thread = threads.choose(run_id, owner, drives.values());
      const id = ++count;
      const order: Order = {
        do: "start",
        start: { drive: id, run_id, attempt, history, agent, ...prepare(head, agent) },
      };
      drives.set(run_id, { id, head, owner, thread, slot: slots.take(head) });
      thread.send(order);
    } catch (error) {
      void recovery.end(run_id, attempt, error);
    }
  }

  function recorded(head: RunHead): Begun {
    const history = journal.read(head.run_id);
    const created = history[0]?.event;
    if (created?.type !== "run.created") throw new Error(`Journal of ${head.run_id} has no beginning.`);
    return { history, agent: journal.snapshot(head, created.agent_hash) };
  }

  function hear(notice: Notice, thread: Thread): void {
    if (notice.do === "warn") log.warn(notice.message, notice.fields);
    else if (notice.do === "free_place") places.free(notice.place);
    else if (notice.do === "delta") watches.delta(notice.run_id, notice.delta);
    else if (notice.do === "said") watches.said(notice.run_id, notice.anchor, notice.length);
    else if (notice.do === "append") void append(notice, thread);
    else if (notice.do === "ask") void tell(notice, thread);
    else if (notice.do === "left") leave(notice);
  }

  async function append(notice: Extract<Notice, { do: "append" }>, thread: Thread): Promise<void> {
    await appends.append(notice, thread);
    const { run_id, attempt, leaves } = notice;
    if (leaves !== undefined && !stopped) leave({ do: "left", drive: leaves, run_id, attempt, fault: null });
  }

  /** Who asks for a run that has moved on, or does so before there is an answer, is told to stop. */
  async function tell({ run_id, attempt, ticket, question }: Extract<Notice, { do: "ask" }>, thread: Thread) {
    const asking = (): RunHead | null => {
      const head = journal.head(run_id);
      return head && head.attempt === attempt && !isOver(head.status) ? head : null;
    };
    try {
      const head = asking();
      const answered = head && (await lending(run_id, answer(head, question), question));
      if (head && asking()) return thread.send({ do: "answer", ticket, answer: answered });
    } catch (error) {
      if (isStorageRefusal(error)) recovery.unwritten(run_id, error);
      else if (!(error instanceof AppendRefused)) void recovery.end(run_id, attempt, error);
    }
    thread.send({ do: "refused", ticket });
  }

  /** What a run asks for, while others have its slot if that is to wait for a run below it. */
  async function lending(runId: string, answered: unknown, { of }: Question): Promise<unknown> {
    const drive = drives.get(runId);
    if (of !== "await_child" || !(answered instanceof Promise) || !drive || drive.head.depth === 0) return answered;
    drive.slot.lend();
    try {
      return await answered;
    } finally {
      drive.slot.takeBack();
    }
  }

  function leave({ drive, run_id, attempt, fault }: Extract<Notice, { do: "left" }>): void {
    appends.left(run_id, attempt);
    if (drives.get(run_id)?.id === drive) {
      drop(run_id);
      threads.free(run_id);
    }
    if (fault !== null) void recovery.end(run_id, attempt, new Error(fault));
    else start(run_id); // An answer may have come while the loop was on its way out.
  }

  /** Forgets that a run is driven, and gives its slot to the next one that waits. */
  function drop(runId: string): void {
    const drive = drives.get(runId);
    if (!drive) return;
    drives.delete(runId);
    places.leave(runId);
    drive.slot.give();
  }

  /** Tells the loop of a run to stop; the journal has already said why. */
  function abort(runId: string): void {
    const drive = drives.get(runId);
    if (drive) {
      drop(runId);
      drive.thread.send({ do: "abort", drive: drive.id });
    }
    threads.free(runId);
  }

  /** Its loop stops; it is driven again once it may be. */
  function hold(runId: string): void {
    abort(runId);
    held.add(runId);
  }

  /** Runs of a project that are still in a step, or are to be recovered. */
  function underWay(projectId: string): number {
    const driven = [...drives.values()].filter(({ head }) => head.project_id === projectId);
    for (const { head } of driven) if (parking.onlyWaits(head.run_id)) hold(head.run_id);
    const left = driven.filter(({ head }) => drives.has(head.run_id)).length;
    return left + lost.all().filter((id) => journal.head(id)?.project_id === projectId).length;
  }

  function died(dead: Thread): () => void {
    const left = [...drives.values()].filter(({ thread }) => thread === dead).map(({ head }) => head.run_id);
    // Who waits for an answer was done with its thread.
    const gone = left.filter((id) => journal.head(id)?.status === "in_progress");
    gone.forEach(lost.add);
    left.forEach(drop);
    return () => {
      takeUp(gone);
      release();
    };
  }

  /**
   * Takes up the runs of a dead thread. All of them look like the one that killed it: before one of several is given up,
   * they go on in smaller company, until it kills a thread that it has for itself.
   */
  function takeUp(gone: readonly string[]): void {
    const suspects = gone.length > 1 ? gone.filter(isLastChance) : [];
    inShares(suspects).forEach(threads.confine);
    for (const id of gone) void recovery.recover(id, suspects.includes(id));
  }

  function isLastChance(runId: string): boolean {
    try {
      const { status, stalls } = journal.state(runId);
      return status === "in_progress" && stalls >= stallsMax - 1;
    } catch {
      return false; // It cannot be read: its recovery will say so.
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
    /** Whether a loop is at work on the run. */
    drives: (runId: string): boolean => drives.has(runId),
    driving: () => drives.size,
    /** Whether it is driven as soon as it may be. */
    holds(runId: string): boolean {
      const head = held.has(runId) ? journal.head(runId) : null;
      return head !== null && mustWait(head);
    },
    /** Lets the runs of a project come to the end of their steps, and no run of it begins another one. */
    park: parking.add,
    /** How many runs of a project that is parked are still in a step. */
    underWay,
    /** Its runs go on, as far as they are here. */
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
