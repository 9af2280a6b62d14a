import { SQLiteError } from "bun:sqlite";
import type { AgentSnapshot } from "../core/agent-snapshot.ts";
import { failedEvents } from "../core/conclude.ts";
import { runError } from "../core/decide.ts";
import { AppError } from "../core/errors.ts";
import type { JournalEntry, RunEvent } from "../core/run-event.ts";
import { fold, isOver } from "../core/run-state.ts";
import type { Scope } from "../core/scope.ts";
import { unknownRunUsage } from "../core/usage.ts";
import { isDamage } from "../db/damage.ts";
import { AppendRefused, type Journal, type RunHead } from "../journal/journal.ts";
import type { Log } from "../lib/log.ts";
import type { Notice, Order, RunStart } from "../worker/messages.ts";
import { partialOf } from "./partial.ts";
import type { Thread, ThreadFactory } from "./threads.ts";
import type { Watches } from "./watch.ts";

/** What a run needs besides its journal: keys, addresses, policy. Throws `model_not_available`. */
export type Prepare = (
  scope: Scope,
  agent: AgentSnapshot,
) => Pick<RunStart, "connection" | "model" | "secrets" | "egress">;

/** What a run is driven with: read from the journal, or at hand when it was just created. */
interface Begun {
  history: JournalEntry[];
  agent: AgentSnapshot;
}

interface Drive {
  id: number;
  run_id: string;
  /** Project and environment: whose slot it takes. */
  owner: string;
  thread: Thread;
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
  threads: ThreadFactory;
  /** How many threads. */
  size: number;
  /** How many runs of a scope may be driven at once. */
  slots(scope: Scope): number;
  /** How often threads are asked for a sign of life. */
  beat_ms?: number;
  log: Log;
  now: () => number;
}) {
  const drives = new Map<string, Drive>();
  const busy = new Map<string, number>();
  const queues = new Map<string, Map<string, Scope>>();
  // Runs that nobody may drive until the journal says that they were recovered: the attempt they had is past.
  const recovering = new Set<string>();
  // Beats since a thread last answered. They are counted and not timed: a process that was stopped for a while, and
  // its threads with it, has missed none.
  const unanswered = new WeakMap<Thread, number>();
  let count = 0;
  let stopped = false;
  const threads: Thread[] = Array.from({ length: Math.max(1, size) }, (_, index) => spawn(index));

  const beats = setInterval(beat, beat_ms);
  beats.unref();

  function spawn(index: number): Thread {
    const born = performance.now();
    const thread: Thread = makeThread(
      (notices) => {
        for (const notice of notices) hear(notice, thread);
      },
      (reason) => {
        if (stopped) return;
        log.error("worker thread ended", { reason });
        replace(index, thread, performance.now() - born < shortLife_ms ? shortLife_ms : 0);
      },
    );
    return thread;
  }

  /** A thread that cannot even start is started again at a pace: without one it would take the whole processor. */
  function replace(index: number, dead: Thread, pause_ms: number): void {
    const lost = new Set([...drives.values()].filter(({ thread }) => thread === dead).map(({ run_id }) => run_id));
    for (const id of lost) drop(id);
    const send = (order: Order) => void (order.do === "start" && lost.add(order.start.run_id));
    const nobody: Thread = { separate: false, send, end() {} };
    threads[index] = nobody;
    setTimeout(() => {
      if (stopped) return;
      threads[index] = spawn(index);
      for (const id of lost) {
        drop(id);
        void recover(id);
      }
    }, pause_ms);
  }

  /** Replaces threads that have not answered for several beats: one run that blocks a thread may not block its others. */
  function beat(): void {
    threads.forEach((thread, index) => {
      if (!thread.separate) return;
      const missed = unanswered.get(thread) ?? 0;
      if (missed >= beatsMax) {
        log.error("a worker thread does not answer and is replaced", { beats: missed });
        unanswered.delete(thread);
        thread.end();
        replace(index, thread, 0);
      } else {
        unanswered.set(thread, missed + 1);
        thread.send({ do: "ping" });
      }
    });
  }

  /** Drives a run that is in progress: now, or as soon as its project and environment have a slot. */
  function start(runId: string, begun?: Begun): void {
    const head = drivable(runId);
    if (stopped || !head) return;
    const key = keyOf(head);
    const queue = queues.get(key) ?? new Map<string, Scope>();
    // Whoever finds nobody waiting and a free slot needs no queue.
    if (queue.size === 0 && hasSlot(key, head)) drive(head, begun);
    else {
      queues.set(key, queue.set(runId, head));
      advance(key);
    }
  }

  const hasSlot = (key: string, scope: Scope): boolean => (busy.get(key) ?? 0) < slots(scope);

  function drivable(runId: string): RunHead | null {
    const head = journal.head(runId);
    return head?.status === "in_progress" && !drives.has(runId) && !recovering.has(runId) ? head : null;
  }

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
      const thread = leastBusy();
      const one: Drive = { id: ++count, run_id, owner: keyOf(head), thread };
      const order: Order = {
        do: "start",
        start: { drive: one.id, run_id, attempt, history, agent, ...prepare(head, agent) },
      };
      drives.set(run_id, one);
      busy.set(keyOf(head), (busy.get(keyOf(head)) ?? 0) + 1);
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

  const leastBusy = (): Thread => {
    const load = (thread: Thread) => [...drives.values()].filter((drive) => drive.thread === thread).length;
    return threads.length === 1
      ? threads[0]!
      : threads.reduce((best, thread) => (load(thread) < load(best) ? thread : best));
  };

  function hear(notice: Notice, thread: Thread): void {
    if (stopped) return;
    if (notice.do === "pong") unanswered.set(thread, 0);
    else if (notice.do === "delta") watches.delta(notice.run_id, notice.delta);
    else if (notice.do === "append") void append(notice, thread);
    else leave(notice);
  }

  async function append({ run_id, attempt, ticket, events }: Extract<Notice, { do: "append" }>, thread: Thread) {
    try {
      const [first] = await journal.append(run_id, events, attempt);
      thread.send({ do: "appended", ticket, seq: first!.seq, at: first!.at });
    } catch (error) {
      thread.send({ do: "refused", ticket });
      if (error instanceof AppendRefused) return;
      log.error("the journal could not be written", { run_id, error });
      // The loop leaves now. Started again under the same attempt, it would repeat what it has done without a record.
      recovering.add(run_id);
      abort(run_id);
      later(() => recover(run_id));
    }
  }

  function leave({ drive, run_id, attempt, fault }: Extract<Notice, { do: "left" }>): void {
    if (drives.get(run_id)?.id === drive) drop(run_id);
    if (fault !== null) void end(run_id, attempt, new Error(fault));
    else start(run_id); // An answer may have come while the loop was on its way out.
  }

  /** Forgets that a run is driven, and gives its slot to the next one that waits. */
  function drop(runId: string): void {
    const drive = drives.get(runId);
    if (!drive) return;
    drives.delete(runId);
    const key = drive.owner;
    const left = (busy.get(key) ?? 1) - 1;
    if (left > 0) busy.set(key, left);
    else busy.delete(key);
    advance(key);
  }

  /** Tells the loop of a run to stop; the journal has already said why. */
  function abort(runId: string): void {
    const drive = drives.get(runId);
    if (!drive) return;
    drop(runId);
    drive.thread.send({ do: "abort", drive: drive.id });
  }

  function later(again: () => Promise<void>): void {
    setTimeout(() => {
      if (!stopped) void again();
    }, storageRetry_ms);
  }

  /** Fails a run that cannot be driven: its model is gone, or a bug stopped its loop. */
  async function end(runId: string, attempt: number, cause: unknown): Promise<void> {
    const known = cause instanceof AppError && cause.code === "model_not_available";
    const message = known ? cause.message : "runnel met an internal error while it worked on this run.";
    if (!known) log.error("a run met a bug", { run_id: runId, error: cause });
    const done = await change(runId, attempt, (entries) => {
      const state = fold(entries);
      const error = runError(known ? "model_not_available" : "internal_error", message, state);
      return failedEvents(state, error, now(), partialOf(watches.live(runId), state));
    });
    if (!done) later(() => end(runId, attempt, cause));
  }

  /** Takes up a run whose loop is gone, under a new attempt, from its last completed step; held, it is not driven yet. */
  async function recover(runId: string, clean = false, held = false): Promise<void> {
    if (stopped) return;
    recovering.add(runId);
    const done = await change(runId, undefined, (entries) => {
      const state = fold(entries);
      if (state.status !== "in_progress") return [];
      const step_index = state.open[0]?.step_index ?? null;
      return [{ type: "run.recovered", attempt: state.attempt + 1, step_index, ...(clean && { clean }) }];
    });
    if (!done) return later(() => recover(runId, clean, held));
    recovering.delete(runId);
    if (!held) start(runId);
  }

  /** False when the storage refused, to be asked again; a run that is past reading is failed as it is. */
  async function change(
    runId: string,
    attempt: number | undefined,
    produce: (entries: ReturnType<Journal["read"]>) => RunEvent[],
  ) {
    try {
      await journal.commit(runId, () => {
        const head = journal.head(runId);
        if (!head || isOver(head.status)) return [];
        return journal.insert(runId, produce(journal.read(runId)), attempt);
      });
      return true;
    } catch (error) {
      if (error instanceof AppendRefused) return true;
      log.error("the journal could not be written", { run_id: runId, error });
      if (error instanceof SQLiteError && !isDamage(error)) return false;
      return giveUp(runId); // Read again, it would be as damaged.
    }
  }

  /** Ends a run whose journal cannot be read, and reads nothing of it: nobody waits for it until its timeout. */
  async function giveUp(runId: string): Promise<boolean> {
    const message = "The record of this run is damaged and cannot be read.";
    const error = { type: "run_error", code: "internal_error", message, step_index: null, retryable: false } as const;
    const failed: RunEvent = { type: "run.failed", error, output: null, usage: unknownRunUsage };
    try {
      await journal.append(runId, [failed]);
      return true;
    } catch (refusal) {
      return !(refusal instanceof SQLiteError) || isDamage(refusal);
    }
  }

  return {
    start,
    recover,
    abort,
    driving: () => drives.size,
    /** For tests: how many slots of a scope are taken. */
    busy: (scope: Scope): number => busy.get(keyOf(scope)) ?? 0,
    stop(): void {
      stopped = true;
      clearInterval(beats);
      for (const thread of threads) thread.end();
    },
  };
}

const keyOf = ({ project_id, environment }: Scope): string => `${project_id}:${environment}`;
