import { workerEntry } from "../../lib/assets.ts";
import type { Log } from "../../lib/log.ts";
import { createPoll, type Poll } from "../../lib/poll.ts";
import { startThread } from "../../lib/start-thread.ts";
import { createLeaseGuard } from "../../runtime/agent-loop/lease-guard.ts";
import { decode, type EncodedMessages, MessageQueue } from "../../runtime/agent-loop/message-channel.ts";
import type { FromWorker, ToWorker } from "../../runtime/agent-loop/messages.ts";
import { createRunExecutor } from "../../runtime/agent-loop/run-executor.ts";
import { chooseWorker, type WorkerLoad } from "./worker-placement.ts";

/** A place where loops run. Messages of one tick are batched in both directions. */
export interface WorkerThread {
  /** True if it can be stuck while the main thread is not, and can then be ended. */
  separate: boolean;
  send(message: ToWorker): void;
  /** Sends now the messages queued in this tick. */
  flush?(): void;
  end(): void;
}

export type WorkerFactory = (
  onMessages: (messages: FromWorker[]) => void,
  onExit: (reason: string) => void,
) => WorkerThread;

// A smaller heap is collected sooner, so that tool outputs do not accumulate; no measurable cost per run.
const startWorker = startThread<string | SharedArrayBuffer, EncodedMessages>(workerEntry, { smol: true });

/** Worker threads of this process. `leadsUntil` is the shared end of the lease: they send requests only until then. */
export const workerThreads =
  (leadsUntil?: SharedArrayBuffer): WorkerFactory =>
  (onMessages, onExit) => {
    const thread = startWorker((encoded) => onMessages(decode(encoded)), onExit);
    if (leadsUntil) thread.send(leadsUntil);
    // Sent before responses to clients are built, which would delay the messages.
    const queue = new MessageQueue<ToWorker>((messages) => thread.send(JSON.stringify(messages)), queueMicrotask);
    return {
      separate: true,
      send: (message) => queue.push(message),
      flush: () => queue.flush(),
      end: thread.end,
    };
  };

export const workerThread: WorkerFactory = workerThreads();

/** Wraps threads so that `ordering`, if set, decides when their messages are sent. */
export const withOrdering = (
  make: WorkerFactory,
  ordering?: (send: WorkerThread["send"]) => WorkerThread["send"],
): WorkerFactory =>
  ordering === undefined
    ? make
    : (...callbacks) => {
        const thread = make(...callbacks);
        const inOrder = ordering(thread.send);
        // Pings reveal nothing and bypass the order; a delayed ping would make the thread look dead.
        return { ...thread, send: (message) => (message.do === "ping" ? thread.send(message) : inOrder(message)) };
      };

/** Runs loops on the calling thread (`--workers 0`). */
export const runInThisThread =
  (leadsUntil?: SharedArrayBuffer): WorkerFactory =>
  (onMessages) => {
    const leading = leadsUntil && createLeaseGuard(new BigInt64Array(leadsUntil));
    const executor = createRunExecutor(new MessageQueue<FromWorker>(onMessages), { leading });
    const queue = new MessageQueue<ToWorker>((messages) => {
      for (const message of messages) executor.receive(message);
    });
    return { separate: false, send: (message) => queue.push(message), end() {} };
  };

export const thisThread: WorkerFactory = runInThisThread();

// A thread that misses this many pings is stuck: loops yield within milliseconds.
const pingsMax = 3;
// A thread that exited sooner probably hit an error that its successor will hit too.
const shortLife_ms = 250;

export interface WorkerSupervisorOptions {
  threads: WorkerFactory;
  /** Maximum number of threads per owner. One more starts on demand for an owner that shares a thread with others. */
  most: number;
  /** True: threads start at once and those that exit are replaced. False: each starts on demand. */
  isStanding: boolean;
  /** Milliseconds between pings. */
  beat_ms?: number;
  /** True if a thread has work, so that it may get stuck. */
  hasWork(): boolean;
  log: Pick<Log, "error">;
  onMessage(message: FromWorker, from: WorkerThread): void;
  /** Called when a thread has exited, with its work lost. The returned function is called once there is a replacement. */
  onExit(thread: WorkerThread, reason: string): () => void;
}

/** Supervises worker threads: replaces each that exits or is stuck. */
export class WorkerSupervisor {
  readonly #options: WorkerSupervisorOptions;
  /** Live threads; may be empty for a moment. */
  readonly #threads = new Set<WorkerThread>();
  /** Work suspected to crash its thread, on threads shared with little other work or none. */
  readonly #confined = new Map<string, WorkerThread>();
  /** Pings since a thread last responded. Counted, not timed: a process that was suspended has missed none. */
  readonly #unanswered = new WeakMap<WorkerThread, number>();
  readonly #pings: Poll;
  /** True until threads that were new or had work have had a ping afterwards. */
  #mayBeStuck = true;
  #isStopped = false;

  constructor(options: WorkerSupervisorOptions) {
    const { most, isStanding, beat_ms = 5000 } = options;
    this.#options = options;
    this.#pings = createPoll({ every_ms: beat_ms, look: () => this.#pingAll() });
    if (isStanding) for (let index = 0; index < most; index++) this.#threads.add(this.#spawn());
  }

  isEmpty(): boolean {
    return this.#threads.size === 0;
  }

  /** Returns the thread for new work; `placed` is the current work. */
  choose(id: string, owner: string, placed: Iterable<WorkerLoad<WorkerThread>>): WorkerThread {
    this.#watch();
    const chosen = this.#confined.get(id) ?? chooseWorker(owner, this.#threads, placed, this.#options.most);
    if (chosen) return chosen;
    const another = this.#spawn();
    this.#threads.add(another);
    return another;
  }

  /** Sends now all messages queued in this tick. */
  flush(): void {
    for (const thread of this.#all()) thread.flush?.();
  }

  /** Gives this work a thread of its own, until all of it is freed. */
  confine(ids: readonly string[]): void {
    const thread = this.#spawn();
    for (const id of ids) this.#confined.set(id, thread);
  }

  /** Ends the thread of a suspect, unless another suspect uses it. */
  free(id: string): void {
    const thread = this.#confined.get(id);
    this.#confined.delete(id);
    if (thread && ![...this.#confined.values()].includes(thread)) thread.end();
  }

  stop(): void {
    this.#isStopped = true;
    this.#pings.stop();
    for (const thread of this.#all()) thread.end();
  }

  #all(): Set<WorkerThread> {
    return new Set([...this.#threads, ...this.#confined.values()]);
  }

  #spawn(): WorkerThread {
    this.#watch();
    const startedAt = performance.now();
    const thread: WorkerThread = this.#options.threads(
      (messages) => this.#onMessages(messages, thread),
      (reason) => {
        if (this.#isStopped) return;
        this.#options.log.error("worker thread ended", { reason });
        this.#replace(thread, reason, performance.now() - startedAt < shortLife_ms ? shortLife_ms : 0);
      },
    );
    return thread;
  }

  #onMessages(messages: readonly FromWorker[], from: WorkerThread): void {
    for (const message of messages) {
      if (this.#isStopped) return;
      if (message.do === "pong") this.#unanswered.set(from, 0);
      else this.#options.onMessage(message, from);
    }
  }

  /** Delays the restart of a thread that exits at start, because an immediate restart loop would use a whole core. */
  #replace(exited: WorkerThread, reason: string, pause_ms: number): void {
    const isMissed = this.#threads.delete(exited) && this.#options.isStanding;
    for (const [id, thread] of this.#confined) if (thread === exited) this.#confined.delete(id);
    const onReplaced = this.#options.onExit(exited, reason);
    setTimeout(() => {
      if (this.#isStopped) return;
      if (isMissed) this.#threads.add(this.#spawn());
      onReplaced();
    }, pause_ms);
  }

  /**
   * Pings every thread and replaces those that are stuck, because a blocked thread blocks all work on it. Returns false
   * once none has work and all have answered since.
   */
  #pingAll(): boolean {
    const threads = [...this.#all()].filter(({ separate }) => separate);
    const hasWork = this.#options.hasWork();
    if (!hasWork && !this.#mayBeStuck && threads.every((thread) => this.#unanswered.get(thread) === 0)) return false;
    this.#mayBeStuck = hasWork;
    for (const thread of threads) this.#ping(thread);
    return true;
  }

  #watch(): void {
    this.#mayBeStuck = true;
    this.#pings.wake();
  }

  #ping(thread: WorkerThread): void {
    const missed = this.#unanswered.get(thread) ?? 0;
    if (missed < pingsMax) {
      this.#unanswered.set(thread, missed + 1);
      thread.send({ do: "ping" });
      return;
    }
    this.#options.log.error("a worker thread does not answer and is replaced", { beats: missed });
    this.#unanswered.delete(thread);
    thread.end();
    this.#replace(thread, "it did not answer", 0);
  }
}
