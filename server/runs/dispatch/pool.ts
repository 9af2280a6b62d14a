import type { AgentSnapshot } from "../../domain/agent-snapshot.ts";
import { maxCrashesWithoutProgress } from "../../domain/decide.ts";
import { createdEvent, type JournalEntry } from "../../domain/run-event.ts";
import { everyModelOf } from "../../domain/run-models.ts";
import { isOver } from "../../domain/run-state.ts";
import { nameOf, type Scope } from "../../domain/scope.ts";
import type { Log } from "../../lib/log.ts";
import type { CircuitBreakers } from "../../resources/model-connections/circuit-breakers.ts";
import type { ModelPlaces } from "../../resources/model-connections/model-places.ts";
import type { RefusalStore } from "../../resources/model-connections/refusal-store.ts";
import type { FromWorker, Question, RunStart } from "../../runtime/agent-loop/messages.ts";
import { isStorageRefusal } from "../../storage/db/corruption.ts";
import { AppendRefused, type Journal, type RunHead } from "../../storage/journal/journal.ts";
import type { Slot, Slots } from "../queue/slots.ts";
import { bisect } from "../recovery/bisect.ts";
import type { OrphanedRuns } from "../recovery/orphaned-runs.ts";
import { createRecovery, type InsertEvents, type Recovery } from "../recovery/recovery.ts";
import type { RunSubscriptions } from "../stream/run-subscriptions.ts";
import { type AppendHandler, createAppendHandler } from "./append-handler.ts";
import type { DispatchGate } from "./dispatch-gate.ts";
import { createDraining, type Draining } from "./draining.ts";
import { type WorkerFactory, WorkerSupervisor, type WorkerThread } from "./worker-threads.ts";

/** Resolves what a run needs besides its journal: keys, addresses, policy. Throws `model_not_available`. */
type Prepare = (
  scope: Scope,
  agent: AgentSnapshot,
  /** The run's models, by their full names. */
  models: readonly string[],
) => Pick<
  RunStart,
  | "connection"
  | "model"
  | "candidates"
  | "secrets"
  | "egress"
  | "unknown_price"
  | "judge_prices"
  | "day_budget"
  | "model_trouble"
>;

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
  insert: InsertEvents;
  orphanedRuns: OrphanedRuns;
  /** True if model calls of a scope must reserve a share of the daily budget. */
  hasDayBudget?(scope: Scope): boolean;
  /** Called when a call that waits for the user's answer is over, because its server has given up. */
  onGaveUp?(runId: string, toolCallId: string): void;
  /** Slots of connections with limited concurrency. */
  places?: Pick<ModelPlaces, "free" | "leave">;
  /** Circuit breakers of the models. */
  breakers?: Pick<CircuitBreakers, "report" | "leave" | "hasTrouble">;
  /** Parts of requests that servers refused. */
  refusals?: Pick<RefusalStore, "note">;
  threads: WorkerFactory;
  /** Number of threads. */
  size: number;
  slots: Slots;
  gate: DispatchGate;
  /** Registers a callback for when messages that precede a commit have been sent. */
  onEarlyMessages?(flush: () => void): void;
  /** Milliseconds between pings. */
  beat_ms?: number;
  log: Log;
  now: () => number;
}

const modelsIn = (history: readonly JournalEntry[]): string[] =>
  everyModelOf(createdEvent(history)).map(({ model }) => model);

type Message<Do extends FromWorker["do"]> = Extract<FromWorker, { do: Do }>;

/**
 * Assigns runs to workers and appends their events. A crashed worker's runs are recovered; late messages are fenced by
 * attempt number.
 */
export class Pool {
  readonly #options: PoolOptions;
  readonly #drives = new Map<string, Drive>();
  /** Runs to drive as soon as there is a thread and the gate admits them. */
  readonly #held = new Set<string>();
  /** Workers in which runs that wait have open calls. */
  readonly #keepers = new Map<string, WorkerThread>();
  readonly #workers: WorkerSupervisor;
  readonly #recovery: Recovery;
  readonly #draining: Draining;
  readonly #appends: AppendHandler;
  #count = 0;
  #isStopped = false;

  constructor(options: PoolOptions) {
    const { journal, watches, insert, orphanedRuns, gate, log, now, breakers, hasDayBudget = () => false } = options;
    this.#options = options;
    this.#workers = new WorkerSupervisor({
      threads: options.threads,
      beat_ms: options.beat_ms,
      hasWork: () => this.#drives.size > 0 || this.#keepers.size > 0,
      log,
      onMessage: (message, thread) => this.#onMessage(message, thread),
      onExit: (thread) => this.#onWorkerExit(thread),
      most: Math.max(1, options.size),
      isStanding: true,
    });
    this.#recovery = createRecovery({
      journal,
      watches,
      insert,
      lost: orphanedRuns,
      log,
      now,
      start: (runId) => this.start(runId),
      abort: (runId) => this.abort(runId),
      ended: (runId) => this.#workers.free(runId),
    });
    this.#draining = createDraining({ journal });
    this.#appends = createAppendHandler({
      journal,
      recovery: this.#recovery,
      isDriven: (runId, drive) => this.#drives.get(runId)?.id === drive,
      draining: this.#draining,
      hasDayBudget,
      hasModelTrouble: () => breakers?.hasTrouble() ?? false,
      hold: (runId) => this.#hold(runId),
    });
    gate.listen(() => this.#release());
    options.onEarlyMessages?.(() => this.#workers.flush());
  }

  /** Drives a run in progress, now or as soon as its project and environment have a slot. */
  start(runId: string, input?: DriveInput): void {
    const { slots } = this.#options;
    const head = this.#drivable(runId);
    if (this.#isStopped || !head) return;
    if (slots.isOpen(head)) this.#drive(head, input);
    else slots.wait({ head, isStillNeeded: () => this.#drivable(runId) !== null, begin: () => this.#driveNext(runId) });
  }

  /** Aborts the loop of a run; the journal already has the reason. */
  abort(runId: string): void {
    const drive = this.#drives.get(runId);
    if (drive) {
      this.#drop(runId);
      drive.thread.send({ do: "abort", drive: drive.id });
    }
    this.#keepers.get(runId)?.send({ do: "forget", run_id: runId });
    this.#keepers.delete(runId);
    this.#workers.free(runId);
  }

  /** Ends the model call of this step, because a message of the user came; the journal already has the message. */
  interrupt(runId: string, step_index: number): void {
    const drive = this.#drives.get(runId);
    drive?.thread.send({ do: "interrupt", drive: drive.id, step_index });
  }

  /** See `Recovery`. */
  begin(runId: string, mayBegin: () => boolean): Promise<boolean> {
    return this.#recovery.begin(runId, mayBegin);
  }

  /** See `Recovery`. */
  recover(runId: string, isClean?: boolean): Promise<void> {
    return this.#recovery.recover(runId, isClean);
  }

  /** See `Recovery`. */
  giveUp(runId: string, cause: unknown): Promise<boolean> {
    return this.#recovery.giveUp(runId, cause);
  }

  /** True if the run's failure is not stored yet. */
  ends(runId: string): boolean {
    return this.#recovery.ends(runId);
  }

  /** True if a loop works on the run. */
  drives(runId: string): boolean {
    return this.#drives.has(runId);
  }

  /** Number of driven runs. */
  driving(): number {
    return this.#drives.size;
  }

  /** True if the run is held: it is driven as soon as it may be. */
  holds(runId: string): boolean {
    const head = this.#held.has(runId) ? this.#options.journal.head(runId) : null;
    return head !== null && this.#isHeldBack(head);
  }

  /** Drains a project: its runs finish their current step and start no other. */
  park(projectId: string): void {
    this.#draining.add(projectId);
  }

  /** Returns the number of a drained project's runs that are still in a step, or to be recovered. */
  underWay(projectId: string): number {
    const { journal, orphanedRuns } = this.#options;
    const driven = [...this.#drives.values()].filter(({ head }) => head.project_id === projectId);
    for (const { head } of driven) if (this.#draining.onlyWaits(head.run_id)) this.#hold(head.run_id);
    const remaining = driven.filter(({ head }) => this.#drives.has(head.run_id)).length;
    return remaining + orphanedRuns.all().filter((id) => journal.head(id)?.project_id === projectId).length;
  }

  /** Resumes the project's runs that are still here. */
  unpark(projectId: string): void {
    this.#draining.delete(projectId);
    this.#release();
  }

  stop(): void {
    this.#isStopped = true;
    this.#recovery.stop();
    this.#workers.stop();
  }

  /** Returns the head of a run that can be driven now; null if it cannot, needs no loop, or is held. */
  #drivable(runId: string): RunHead | null {
    const { journal, orphanedRuns } = this.#options;
    const head = journal.head(runId);
    if (head?.status !== "in_progress" || this.#drives.has(runId) || orphanedRuns.has(runId)) return null;
    if (!this.#isHeldBack(head)) return head;
    this.#held.add(runId);
    return null;
  }

  #isHeldBack({ run_id, project_id }: RunHead): boolean {
    return this.#workers.isEmpty() || this.#draining.has(project_id) || !this.#options.gate.admits(run_id);
  }

  /** Starts the held runs that may be driven now. */
  #release(): void {
    const waiting = [...this.#held];
    this.#held.clear();
    for (const id of waiting) this.start(id);
  }

  /** Stops a run's loop; the run is driven again once it may be. */
  #hold(runId: string): void {
    this.abort(runId);
    this.#held.add(runId);
  }

  /** Drives a run that has waited for a slot. */
  #driveNext(runId: string): void {
    const head = this.#options.journal.head(runId);
    if (head) this.#drive(head);
  }

  /** Sends a run to a worker. Fails the run if it cannot be driven. */
  #drive(head: RunHead, input?: DriveInput): void {
    const { prepare, slots } = this.#options;
    const { run_id, attempt } = head;
    try {
      const { history, agent } = input ?? this.#readInput(head);
      const owner = nameOf(head);
      const thread = this.#keepers.get(run_id) ?? this.#workers.choose(run_id, owner, this.#drives.values());
      this.#keepers.delete(run_id);
      const id = ++this.#count;
      const start = { drive: id, run_id, attempt, history, agent, ...prepare(head, agent, modelsIn(history)) };
      this.#drives.set(run_id, { id, head, owner, thread, slot: slots.take(head) });
      thread.send({ do: "start", start });
    } catch (error) {
      void this.#recovery.end(run_id, attempt, error);
    }
  }

  #readInput(head: RunHead): DriveInput {
    const { journal } = this.#options;
    const history = journal.read(head.run_id);
    const created = history[0]?.event;
    if (created?.type !== "run.created") throw new Error(`Journal of ${head.run_id} has no beginning.`);
    return { history, agent: journal.snapshot(head, created.agent_hash) };
  }

  #onMessage(message: FromWorker, thread: WorkerThread): void {
    const { watches, places, breakers, refusals, log } = this.#options;
    if (message.do === "delta") watches.delta(message.run_id, message.delta);
    else if (message.do === "generated") watches.generated(message.run_id, message.anchor, message.length);
    else if (message.do === "append") void this.#append(message, thread);
    else if (message.do === "ask") void this.#answer(message, thread);
    else if (message.do === "left") {
      if (message.keeps) this.#keep(message.run_id, thread);
      this.#onLoopExit(message);
    } else if (message.do === "gave_up") this.#options.onGaveUp?.(message.run_id, message.tool_call_id);
    else if (message.do === "free_place") places?.free(message.place);
    else if (message.do === "model_result") breakers?.report(message.run_id, message.model, message.result);
    else if (message.do === "refusals")
      void refusals
        ?.note(message.connection, message.model, message.refusals)
        // A full disk must not disturb the calls: the next process learns them again.
        .catch(() => {});
    else if (message.do === "log") log[message.level](message.message, message.fields);
  }

  /** Remembers the worker of a run that waits, unless the run has ended meanwhile. */
  #keep(runId: string, thread: WorkerThread): void {
    const head = this.#options.journal.head(runId);
    if (head && !isOver(head.status)) this.#keepers.set(runId, thread);
    else thread.send({ do: "forget", run_id: runId });
  }

  async #append(message: Message<"append">, thread: WorkerThread): Promise<void> {
    await this.#appends.append(message, thread);
    const { run_id, attempt, leaves } = message;
    if (leaves === undefined || this.#isStopped) return;
    this.#onLoopExit({ do: "left", drive: leaves, run_id, attempt, fault: null });
  }

  /** Refuses questions of a superseded attempt, also if it is superseded while the answer is computed. */
  async #answer({ run_id, attempt, ticket, question }: Message<"ask">, thread: WorkerThread): Promise<void> {
    try {
      const head = this.#currentHead(run_id, attempt);
      const answer = head && (await this.#withLentSlot(run_id, this.#options.answer(head, question), question));
      if (head && this.#currentHead(run_id, attempt)) return thread.send({ do: "answer", ticket, answer });
    } catch (error) {
      if (isStorageRefusal(error)) this.#recovery.unwritten(run_id, error);
      else if (!(error instanceof AppendRefused)) void this.#recovery.end(run_id, attempt, error);
    }
    thread.send({ do: "refused", ticket });
  }

  /** Returns the head of a run that this attempt still drives. */
  #currentHead(runId: string, attempt: number): RunHead | null {
    const head = this.#options.journal.head(runId);
    return head && head.attempt === attempt && !isOver(head.status) ? head : null;
  }

  /** Lends the run's slot while it waits for a child run. */
  async #withLentSlot(runId: string, answer: unknown, { of }: Question): Promise<unknown> {
    const drive = this.#drives.get(runId);
    if (of !== "await_child" || !(answer instanceof Promise) || !drive || drive.head.depth === 0) return answer;
    drive.slot.lend();
    try {
      return await answer;
    } finally {
      drive.slot.takeBack();
    }
  }

  #onLoopExit({ drive, run_id, attempt, fault }: Message<"left">): void {
    this.#appends.left(run_id, attempt);
    if (this.#drives.get(run_id)?.id === drive) {
      this.#drop(run_id);
      this.#workers.free(run_id);
    }
    if (fault !== null) void this.#recovery.end(run_id, attempt, new Error(fault));
    else this.start(run_id); // An answer may have come while the loop was leaving.
  }

  /** Removes a run from the driven ones and releases its slot. */
  #drop(runId: string): void {
    const drive = this.#drives.get(runId);
    if (!drive) return;
    this.#drives.delete(runId);
    this.#options.places?.leave(runId);
    this.#options.breakers?.leave(runId);
    drive.slot.release();
  }

  /** Drops a worker's runs. The returned function recovers them once the worker is replaced. */
  #onWorkerExit(exited: WorkerThread): () => void {
    const { journal, orphanedRuns } = this.#options;
    for (const [id, thread] of this.#keepers) if (thread === exited) this.#keepers.delete(id);
    const runIds = [...this.#drives.values()].filter(({ thread }) => thread === exited).map(({ head }) => head.run_id);
    // A run that requires action does not need its thread.
    const orphaned = runIds.filter((id) => journal.head(id)?.status === "in_progress");
    orphaned.forEach(orphanedRuns.add);
    for (const id of runIds) this.#drop(id);
    return () => {
      this.#recoverAll(orphaned);
      this.#release();
    };
  }

  /**
   * Recovers a crashed worker's runs. Suspects are bisected over fewer and fewer companions until one crashes alone.
   */
  #recoverAll(orphaned: readonly string[]): void {
    const suspects = orphaned.length > 1 ? orphaned.filter((id) => this.#isLastChance(id)) : [];
    for (const group of bisect(suspects)) this.#workers.confine(group);
    for (const id of orphaned) void this.#recovery.recover(id, suspects.includes(id));
  }

  #isLastChance(runId: string): boolean {
    try {
      const { status, stalls } = this.#options.journal.state(runId);
      return status === "in_progress" && stalls >= maxCrashesWithoutProgress - 1;
    } catch {
      return false; // Recovery will report that it cannot be read.
    }
  }
}
