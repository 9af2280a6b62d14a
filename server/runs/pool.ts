import type { AgentSnapshot } from "../core/agent-snapshot.ts";
import { failedEvents } from "../core/conclude.ts";
import { stallsMax, withFollowUp } from "../core/decide.ts";
import { AppError } from "../core/errors.ts";
import { runError } from "../core/run-error.ts";
import type { JournalEntry, RunEvent } from "../core/run-event.ts";
import { fold, isOver, type RunState } from "../core/run-state.ts";
import { nameOf, type Scope } from "../core/scope.ts";
import { unknownRunUsage } from "../core/usage.ts";
import { isStorageRefusal } from "../db/damage.ts";
import { AppendRefused, type Inserted, type Journal, type RunHead } from "../journal/journal.ts";
import type { Log } from "../lib/log.ts";
import type { Notice, Order, Question, RunStart } from "../worker/messages.ts";
import type { ModelPlaces } from "./model-places.ts";
import { partialOf } from "./partial.ts";
import { inShares } from "./shares.ts";
import { chooseThread } from "./thread-choice.ts";
import type { Thread, ThreadFactory } from "./threads.ts";
import type { Watches } from "./watch.ts";

/** What a run needs besides its journal: keys, addresses, policy. Throws `model_not_available`. */
export type Prepare = (
  scope: Scope,
  agent: AgentSnapshot,
) => Pick<RunStart, "connection" | "model" | "secrets" | "egress" | "unknown_price" | "day_budget">;

/** Answers what a run's loop asks, now or later; by a shape that fits the question (`Asks`). */
export type AnswerQuestion = (head: RunHead, question: Question) => unknown;

/** Within a write: inserts what is recorded of a run, and where that ends it, the end of all that works for it before. */
export type InsertDriven = (runId: string, events: readonly RunEvent[], attempt?: number) => Inserted[];

/** What a run is driven with: read from the journal, or at hand when it was just created. */
interface Begun {
  history: JournalEntry[];
  agent: AgentSnapshot;
}

interface Drive {
  id: number;
  /** Whose run it is. */
  head: RunHead;
  thread: Thread;
  /** For how many runs below it waits: meanwhile others have its slot. */
  waits: number;
}

export type Pool = ReturnType<typeof createPool>;

// Storage that refused a write (a full disk) is asked again at this pace, until it takes it.
const storageRetry_ms = 1000;
// A thread that misses this many beats is stuck: what loops do between two awaits takes milliseconds.
const beatsMax = 3;
// A thread that lived no longer than this died of something that the next one will meet too.
const shortLife_ms = 250;

/**
 * Hands runs to threads and their events to the journal. A thread that dies costs its runs a recovery, nothing more;
 * what a given-up loop still sends is refused by its attempt.
 */
export function createPool({
  journal,
  watches,
  prepare,
  answer,
  insert,
  hasDayBudget = () => false,
  places = { free() {}, leave() {} },
  threads: makeThread,
  size,
  slots,
  beat_ms = 5000,
  log,
  now,
}: {
  journal: Journal;
  watches: Watches;
  prepare: Prepare;
  answer: AnswerQuestion;
  insert: InsertDriven;
  /** Whether model calls of a scope have to be granted their share of a day's budget. */
  hasDayBudget?(scope: Scope): boolean;
  /** Who has a place at a server that takes so many calls at once. */
  places?: Pick<ModelPlaces, "free" | "leave">;
  threads: ThreadFactory;
  /** How many threads. */
  size: number;
  /** How many runs of a scope may be driven at once, and as many of those that came of them by calls of agents. */
  slots(scope: Scope): number;
  /** How often threads are asked for a sign of life. */
  beat_ms?: number;
  log: Log;
  now: () => number;
}) {
  const drives = new Map<string, Drive>();
  const busy = new Map<string, number>();
  const queues = new Map<string, Map<string, RunHead>>();
  // The keys of trees of which a run below the top is driven or waits for a slot, by their project and environment.
  const trees = new Map<string, Set<string>>();
  // Runs that nobody may drive until the journal says that they were recovered: the attempt they had is past.
  const recovering = new Set<string>();
  // Runs that failed, as soon as the storage takes it.
  const ending = new Set<string>();
  // Who alone may be driven, while it is found out who brings the process down; null: everybody.
  let allowed: ReadonlySet<string> | null = null;
  const held = new Set<string>();
  // Beats since a thread last answered. They are counted and not timed: a process that was stopped for a while, and
  // its threads with it, has missed none.
  const unanswered = new WeakMap<Thread, number>();
  let count = 0;
  let stopped = false;
  // Dead ones are not among them: for a moment there may be none at all.
  const threads = new Set<Thread>();
  // Runs that are suspected to kill their threads, on threads that they share with few others or none.
  const confined = new Map<string, Thread>();
  // Of one owner's loops. One thread more starts when it is first needed, for who comes beside others.
  const most = Math.max(1, size);
  for (let index = 0; index < most; index++) threads.add(spawn());

  const beats = setInterval(beat, beat_ms);
  beats.unref();

  function spawn(): Thread {
    const born = performance.now();
    const thread: Thread = makeThread(
      (notices) => {
        for (const notice of notices) hear(notice, thread);
      },
      (reason) => {
        if (stopped) return;
        log.error("worker thread ended", { reason });
        replace(thread, performance.now() - born < shortLife_ms ? shortLife_ms : 0);
      },
    );
    return thread;
  }

  /** A thread that cannot even start is started again at a pace: without one it would take the whole processor. */
  function replace(dead: Thread, pause_ms: number): void {
    const isOurs = threads.delete(dead);
    for (const [id, thread] of confined) if (thread === dead) confined.delete(id);
    const left = [...drives.values()].filter(({ thread }) => thread === dead).map(({ head }) => head.run_id);
    // Who waits for an answer was done with its thread.
    const lost = left.filter((id) => journal.head(id)?.status === "in_progress");
    for (const id of lost) recovering.add(id);
    for (const id of left) drop(id);
    setTimeout(() => {
      if (stopped) return;
      if (isOurs) threads.add(spawn());
      takeUp(lost);
      release();
    }, pause_ms);
  }

  /**
   * Takes up the runs of a dead thread. All of them look like the one that killed it: before one of several is given up,
   * they go on in smaller company, until it kills a thread that it has for itself.
   */
  function takeUp(lost: readonly string[]): void {
    const suspects = lost.length > 1 ? lost.filter(isLastChance) : [];
    for (const share of inShares(suspects)) {
      const thread = spawn();
      for (const id of share) confined.set(id, thread);
    }
    for (const id of lost) void recover(id, suspects.includes(id));
  }

  function isLastChance(runId: string): boolean {
    try {
      const { status, stalls } = fold(journal.read(runId));
      return status === "in_progress" && stalls >= stallsMax - 1;
    } catch {
      return false; // It cannot be read: its recovery will say so.
    }
  }

  /** Ends the thread of a suspect that needs it no longer, unless another one does. */
  function free(runId: string): void {
    const thread = confined.get(runId);
    confined.delete(runId);
    if (thread && ![...confined.values()].includes(thread)) thread.end();
  }

  /** Replaces threads that have not answered for several beats: one run that blocks a thread may not block its others. */
  function beat(): void {
    for (const thread of new Set([...threads, ...confined.values()])) {
      if (!thread.separate) continue;
      const missed = unanswered.get(thread) ?? 0;
      if (missed >= beatsMax) {
        log.error("a worker thread does not answer and is replaced", { beats: missed });
        unanswered.delete(thread);
        thread.end();
        replace(thread, 0);
      } else {
        unanswered.set(thread, missed + 1);
        thread.send({ do: "ping" });
      }
    }
  }

  /** Lets these runs alone be driven, or everybody again. Those who are driven already stay. */
  function only(runIds: ReadonlySet<string> | null): void {
    allowed = runIds;
    release();
  }

  function release(): void {
    const waiting = [...held];
    held.clear();
    for (const id of waiting) start(id);
  }

  /** Drives a run that is in progress: now, or as soon as its project and environment have a slot. */
  function start(runId: string, begun?: Begun): void {
    const head = drivable(runId);
    if (stopped || !head) return;
    const key = keyOf(head);
    const queue = queues.get(key) ?? new Map<string, RunHead>();
    // Whoever finds nobody waiting and a free slot needs no queue.
    if (queue.size === 0 && hasSlot(key, head)) drive(head, begun);
    else {
      queues.set(key, queue.set(runId, head));
      noteTree(head);
      advance(key);
    }
  }

  const treesOf = (scope: Scope): Set<string> => trees.get(nameOf(scope)) ?? new Set();

  function noteTree(head: RunHead): void {
    if (head.depth > 0) trees.set(nameOf(head), treesOf(head).add(keyOf(head)));
  }

  /** A tree has its part of the slots, and one in any case: however many another has, its runs go on. */
  function hasSlot(key: string, head: RunHead): boolean {
    const own = busy.get(key) ?? 0;
    if (head.depth === 0) return own < slots(head);
    const sharers = treesOf(head);
    const taken = [...sharers].reduce((sum, tree) => sum + (busy.get(tree) ?? 0), 0);
    return own === 0 || (taken < slots(head) && own < Math.ceil(slots(head) / sharers.size));
  }

  function drivable(runId: string): RunHead | null {
    const head = journal.head(runId);
    if (head?.status !== "in_progress" || drives.has(runId) || recovering.has(runId)) return null;
    if (!mustWait(runId)) return head;
    held.add(runId);
    return null;
  }

  const mustWait = (runId: string): boolean => threads.size === 0 || allowed?.has(runId) === false;

  /** Gives free slots to those who wait. Who ended while it waited takes none: the next one gets it. */
  function advance(key: string): void {
    const queue = queues.get(key);
    for (const [runId, scope] of queue ?? []) {
      const head = drivable(runId);
      if (head && !hasSlot(key, scope)) return;
      queue!.delete(runId);
      if (head) drive(head);
    }
    queues.delete(key);
  }

  function drive(head: RunHead, begun?: Begun): void {
    const { run_id, attempt } = head;
    try {
      const { history, agent } = begun ?? recorded(head);
      const thread = confined.get(run_id) ?? threadFor(head);
      const one: Drive = { id: ++count, head, thread, waits: 0 };
      const order: Order = {
        do: "start",
        start: { drive: one.id, run_id, attempt, history, agent, ...prepare(head, agent) },
      };
      drives.set(run_id, one);
      takeSlot(head);
      thread.send(order);
    } catch (error) {
      void end(run_id, attempt, error);
    }
  }

  function recorded(head: RunHead): Begun {
    const history = journal.read(head.run_id);
    const created = history[0]?.event;
    if (created?.type !== "run.created") throw new Error(`Journal of ${head.run_id} has no beginning.`);
    return { history, agent: journal.snapshot(head, created.agent_hash) };
  }

  function threadFor(scope: Scope): Thread {
    const placed = [...drives.values()].map(({ head, thread }) => [nameOf(head), thread] as const);
    const chosen = chooseThread(nameOf(scope), threads, placed, most) ?? spawn();
    threads.add(chosen);
    return chosen;
  }

  function hear(notice: Notice, thread: Thread): void {
    if (stopped) return;
    if (notice.do === "pong") unanswered.set(thread, 0);
    else if (notice.do === "warn") log.warn(notice.message, notice.fields);
    else if (notice.do === "free_place") places.free(notice.place);
    else if (notice.do === "delta") watches.delta(notice.run_id, notice.delta);
    else if (notice.do === "append") void append(notice, thread);
    else if (notice.do === "ask") void tell(notice, thread);
    else if (notice.do === "left") leave(notice);
  }

  async function append({ run_id, attempt, ticket, events }: Extract<Notice, { do: "append" }>, thread: Thread) {
    try {
      const [first] = await write(run_id, () => insert(run_id, events, attempt));
      const { seq, at } = first!;
      const head = events.some(beginsModelCall) ? journal.head(run_id) : null;
      thread.send({ do: "appended", ticket, seq, at, ...(head && { day_budget: hasDayBudget(head) }) });
    } catch (error) {
      thread.send({ do: "refused", ticket });
      if (!(error instanceof AppendRefused)) unwritten(run_id, error);
    }
  }

  /** Makes durable what is inserted, and stops what still works for a run that has failed by it, or on its other calls. */
  async function write(runId: string, produce: () => Inserted[]): Promise<JournalEntry[]> {
    const inserted = await journal.commitAll(produce, journal.head(runId) ?? undefined);
    for (const [id, entries] of inserted) if (id !== runId || entries.at(-1)?.event.type === "run.failed") abort(id);
    return inserted.find(([id]) => id === runId)?.[1] ?? [];
  }

  /** The loop leaves now. Started again under the same attempt, it would repeat what it has done without a record. */
  function unwritten(runId: string, error: unknown): void {
    log.error("the journal could not be written", { run_id: runId, error });
    recovering.add(runId);
    abort(runId);
    later(() => recover(runId));
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
      if (isStorageRefusal(error)) unwritten(run_id, error);
      else if (!(error instanceof AppendRefused)) void end(run_id, attempt, error);
    }
    thread.send({ do: "refused", ticket });
  }

  function leave({ drive, run_id, attempt, fault }: Extract<Notice, { do: "left" }>): void {
    if (drives.get(run_id)?.id === drive) {
      drop(run_id);
      free(run_id);
    }
    if (fault !== null) void end(run_id, attempt, new Error(fault));
    else start(run_id); // An answer may have come while the loop was on its way out.
  }

  /** Forgets that a run is driven, and gives its slot to the next one that waits. */
  function drop(runId: string): void {
    const drive = drives.get(runId);
    if (!drive) return;
    drives.delete(runId);
    places.leave(runId);
    if (drive.waits === 0) giveSlot(drive.head);
  }

  function takeSlot(head: RunHead): void {
    const key = keyOf(head);
    busy.set(key, (busy.get(key) ?? 0) + 1);
    noteTree(head);
  }

  function giveSlot(head: RunHead): void {
    const key = keyOf(head);
    const left = (busy.get(key) ?? 1) - 1;
    if (left > 0) busy.set(key, left);
    else busy.delete(key);
    advance(key);
    if (head.depth === 0) return;
    const sharers = treesOf(head);
    for (const tree of sharers) {
      advance(tree);
      if (!busy.has(tree) && !queues.has(tree)) sharers.delete(tree);
    }
    if (sharers.size === 0) trees.delete(nameOf(head));
  }

  /**
   * What a run asks for, while others have its slot if that is to wait for a run below it: if all that wait kept theirs,
   * those below might never get one. It goes on without waiting for another.
   */
  async function lending(runId: string, answered: unknown, { of }: Question): Promise<unknown> {
    const drive = drives.get(runId);
    if (of !== "await_child" || !(answered instanceof Promise) || !drive || drive.head.depth === 0) return answered;
    if (drive.waits++ === 0) giveSlot(drive.head);
    try {
      return await answered;
    } finally {
      if (--drive.waits === 0 && drives.get(runId) === drive) takeSlot(drive.head);
    }
  }

  /** Tells the loop of a run to stop; the journal has already said why. */
  function abort(runId: string): void {
    const drive = drives.get(runId);
    if (drive) {
      drop(runId);
      drive.thread.send({ do: "abort", drive: drive.id });
    }
    free(runId);
  }

  function later(again: () => Promise<void>): void {
    setTimeout(() => {
      if (!stopped) void again();
    }, storageRetry_ms);
  }

  /** Fails a run that cannot be driven: its model is gone, or a bug stopped its loop. */
  async function end(runId: string, attempt: number, cause: unknown): Promise<void> {
    if (stopped) return; // What breaks off as the process ends is no fault of the run: the next process goes on with it.
    const known = cause instanceof AppError && cause.code === "model_not_available";
    const message = known ? cause.message : "runnel met an internal error while it worked on this run.";
    if (!known) log.error("a run met a bug", { run_id: runId, error: cause });
    ending.add(runId);
    const done = await change(runId, attempt, (entries) => {
      const state = fold(entries);
      const error = runError(known ? "model_not_available" : "internal_error", message, state);
      return failedEvents(state, error, now(), partialOf(watches.live(runId), state, journal));
    });
    if (!done) return later(() => end(runId, attempt, cause));
    ending.delete(runId);
    free(runId);
  }

  /** Takes up a run whose loop is gone, under a new attempt, from its last completed step. */
  async function recover(runId: string, clean = false): Promise<void> {
    if (stopped) return;
    recovering.add(runId);
    const done = await change(runId, undefined, (entries) => {
      const state = fold(entries);
      return state.status === "in_progress" ? [recoveredEvent(state, clean)] : [];
    });
    if (!done) return later(() => recover(runId, clean));
    recovering.delete(runId);
    start(runId);
  }

  /** Begins a queued run if `mayBegin` says so within the write. False when the storage refused, to be asked again. */
  async function begin(runId: string, mayBegin: () => boolean): Promise<boolean> {
    const done = await change(runId, undefined, (entries) => {
      const state = fold(entries);
      if (state.status !== "queued" || !mayBegin()) return [];
      const agent = journal.snapshot(state.run!, state.run!.agent_hash);
      return withFollowUp(state, [{ type: "run.started" }], agent, now());
    });
    if (done) start(runId);
    return done;
  }

  /** False when the storage refused, to be asked again; a run that is past reading is failed as it is. */
  async function change(
    runId: string,
    attempt: number | undefined,
    produce: (entries: ReturnType<Journal["read"]>) => RunEvent[],
  ) {
    try {
      await write(runId, () => {
        const head = journal.head(runId);
        if (!head || isOver(head.status)) return [];
        return insert(runId, produce(journal.read(runId)), attempt);
      });
      return true;
    } catch (error) {
      if (await giveUp(runId, error)) return true;
      log.error("the journal could not be written", { run_id: runId, error });
      return false;
    }
  }

  /**
   * Ends a run whose journal cannot be read, and reads nothing of it: read again, it would be as damaged. False when it
   * was but the storage that refused.
   */
  async function giveUp(runId: string, cause: unknown): Promise<boolean> {
    if (cause instanceof AppendRefused) return true;
    if (isStorageRefusal(cause)) return false;
    const message = "The record of this run is damaged and cannot be read.";
    const error = { type: "run_error", code: "internal_error", message, step_index: null, retryable: false } as const;
    const failed: RunEvent = { type: "run.failed", error, output: null, usage: unknownRunUsage };
    try {
      await journal.append(runId, [failed]);
    } catch (refusal) {
      if (isStorageRefusal(refusal)) return false;
    }
    log.error("the journal cannot be read: its run is given up", { run_id: runId, error: cause });
    return true;
  }

  return {
    start,
    begin,
    recover,
    abort,
    only,
    giveUp,
    /** Whether the storage has not taken yet that the run was recovered. */
    owes: (runId: string): boolean => recovering.has(runId),
    driving: () => drives.size,
    /** For tests: whether the run goes on without anybody's asking, now or when its turn comes. */
    minds: (runId: string): boolean =>
      [drives, recovering, ending, ...queues.values()].some((those) => those.has(runId)) ||
      (held.has(runId) && mustWait(runId)),
    /** For tests: whether a loop is at work on the run. */
    drives: (runId: string): boolean => drives.has(runId),
    /** For tests: whether some have to wait for others who are tried. */
    tries: (): boolean => allowed !== null,
    /** For tests: how many slots of a scope are taken, by runs that no call started and, for each tree, by the others. */
    busy: (scope: Scope): number => busy.get(nameOf(scope)) ?? 0,
    busyBelow: (scope: Scope): number[] => [...treesOf(scope)].map((tree) => busy.get(tree) ?? 0),
    /** For tests: how many have lent theirs. */
    lent: (): number => [...drives.values()].filter(({ waits }) => waits > 0).length,
    stop(): void {
      stopped = true;
      clearInterval(beats);
      for (const thread of [...threads, ...confined.values()]) thread.end();
    },
  };
}

const beginsModelCall = (event: RunEvent): boolean =>
  (event.type === "step.started" || event.type === "step.restarted") && event.step_type === "model_call";

/** That a run goes on under a new attempt; `clean` if nothing that it did ended the one before. */
export const recoveredEvent = ({ attempt, open }: RunState, clean = false): RunEvent => ({
  type: "run.recovered",
  attempt: attempt + 1,
  step_index: open[0]?.step_index ?? null,
  ...(clean && { clean }),
});

/** Whose slot a run takes: one of its project and environment, or below the top one of its tree. */
const keyOf = (head: RunHead): string => (head.depth === 0 ? nameOf(head) : head.root_run_id);
