import type { Log } from "../../lib/log.ts";
import type { FromWorker } from "../../runtime/agent-loop/messages.ts";
import { chooseWorker, type WorkerLoad } from "./worker-placement.ts";
import type { WorkerFactory, WorkerThread } from "./worker-threads.ts";

// A thread that misses this many pings is stuck: loops yield within milliseconds.
const beatsMax = 3;
// A thread that died sooner probably hit an error that its successor will hit too.
const shortLife_ms = 250;

export interface WorkerSupervisorOptions {
  threads: WorkerFactory;
  /** Maximum number of threads per owner. One more starts on demand for an owner that shares a thread with others. */
  most: number;
  /** True: threads start at once and dead ones are replaced. False: each starts on demand. */
  isStanding: boolean;
  /** Milliseconds between pings. */
  beat_ms?: number;
  log: Log;
  hear(notice: FromWorker, from: WorkerThread): void;
  /**
   * Called when a thread has ended, with its work lost. The returned function is called once there is a replacement.
   */
  died(thread: WorkerThread, reason: string): () => void;
}

/** Supervises worker threads: replaces each that dies or is stuck. */
export function createWorkerSupervisor(options: WorkerSupervisorOptions) {
  const { threads: makeThread, most, isStanding, beat_ms = 5000, log, hear, died } = options;
  // Live threads; may be empty for a moment.
  const threads = new Set<WorkerThread>();
  // Work suspected to crash its thread, on threads shared with little other work or none.
  const confined = new Map<string, WorkerThread>();
  // Pings since a thread last answered. Counted, not timed: a process that was suspended has missed none.
  const unanswered = new WeakMap<WorkerThread, number>();
  let stopped = false;
  if (isStanding) for (let index = 0; index < most; index++) threads.add(spawn());
  const beats = setInterval(beat, beat_ms).unref();

  function spawn(): WorkerThread {
    const born = performance.now();
    const thread: WorkerThread = makeThread(
      (notices) => {
        for (const notice of notices) hearOf(notice, thread);
      },
      (reason) => {
        if (stopped) return;
        log.error("worker thread ended", { reason });
        replace(thread, reason, performance.now() - born < shortLife_ms ? shortLife_ms : 0);
      },
    );
    return thread;
  }

  function hearOf(notice: FromWorker, from: WorkerThread): void {
    if (stopped) return;
    if (notice.do === "pong") unanswered.set(from, 0);
    else hear(notice, from);
  }

  /** Delays the restart of a thread that dies at start, because an immediate restart loop would use a whole core. */
  function replace(dead: WorkerThread, reason: string, pause_ms: number): void {
    const isMissed = threads.delete(dead) && isStanding;
    for (const [id, thread] of confined) if (thread === dead) confined.delete(id);
    const goOn = died(dead, reason);
    setTimeout(() => {
      if (stopped) return;
      if (isMissed) threads.add(spawn());
      goOn();
    }, pause_ms);
  }

  /** Pings every thread and replaces those that are stuck, because a blocked thread blocks all work on it. */
  function beat(): void {
    for (const thread of new Set([...threads, ...confined.values()])) {
      if (!thread.separate) continue;
      const missed = unanswered.get(thread) ?? 0;
      if (missed >= beatsMax) {
        log.error("a worker thread does not answer and is replaced", { beats: missed });
        unanswered.delete(thread);
        thread.end();
        replace(thread, "it did not answer", 0);
      } else {
        unanswered.set(thread, missed + 1);
        thread.send({ do: "ping" });
      }
    }
  }

  return {
    isEmpty: (): boolean => threads.size === 0,
    /** Returns the thread for new work; `placed` is the current work. */
    choose(id: string, owner: string, placed: Iterable<WorkerLoad>): WorkerThread {
      const chosen = confined.get(id) ?? chooseWorker(owner, threads, placed, most);
      if (chosen) return chosen;
      const another = spawn();
      threads.add(another);
      return another;
    },
    /** Sends now all messages queued in this tick. */
    flush(): void {
      for (const thread of [...threads, ...confined.values()]) thread.flush?.();
    },
    /** Gives this work a thread of its own, until all of it is freed. */
    confine(ids: readonly string[]): void {
      const thread = spawn();
      for (const id of ids) confined.set(id, thread);
    },
    /** Ends the thread of a suspect, unless another suspect uses it. */
    free(id: string): void {
      const thread = confined.get(id);
      confined.delete(id);
      if (thread && ![...confined.values()].includes(thread)) thread.end();
    },
    stop(): void {
      stopped = true;
      clearInterval(beats);
      for (const thread of [...threads, ...confined.values()]) thread.end();
    },
  };
}
