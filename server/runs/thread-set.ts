import type { Log } from "../lib/log.ts";
import type { Notice } from "../worker/messages.ts";
import { chooseThread, type Placed } from "./thread-choice.ts";
import type { Thread, ThreadFactory } from "./threads.ts";

// A thread that misses this many beats is stuck: what loops do between two awaits takes milliseconds.
const beatsMax = 3;
// A thread that lived no longer than this died of something that the next one will meet too.
const shortLife_ms = 250;

export interface ThreadSetOptions {
  threads: ThreadFactory;
  /** On how many threads the work of one owner may be; one more starts when it is first needed, for who comes beside others. */
  most: number;
  /** Whether they start at once and a dead one is replaced, or each starts when it is needed. */
  isStanding: boolean;
  /** How often threads are asked for a sign of life. */
  beat_ms?: number;
  log: Pick<Log, "error">;
  hear(notice: Notice, from: Thread): void;
  /** A thread is gone, and what it worked on with it. Whatever this returns is called once there is another. */
  died(thread: Thread, reason: string): () => void;
}

/** The threads that work is given to: each is replaced when it dies, or when it is stuck. */
export function createThreadSet(options: ThreadSetOptions) {
  const { threads: makeThread, most, isStanding, beat_ms = 5000, log, hear, died } = options;
  // Dead ones are not among them: for a moment there may be none at all.
  const threads = new Set<Thread>();
  // Work that is suspected to kill its thread, on threads that it shares with little other work or none.
  const confined = new Map<string, Thread>();
  // Beats since a thread last answered. They are counted and not timed: a process that was stopped for a while, and
  // its threads with it, has missed none.
  const unanswered = new WeakMap<Thread, number>();
  let stopped = false;
  if (isStanding) for (let index = 0; index < most; index++) threads.add(spawn());
  const beats = setInterval(beat, beat_ms).unref();

  function spawn(): Thread {
    const born = performance.now();
    const thread: Thread = makeThread(
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

  function hearOf(notice: Notice, from: Thread): void {
    if (stopped) return;
    if (notice.do === "pong") unanswered.set(from, 0);
    else hear(notice, from);
  }

  /** A thread that cannot even start is started again at a pace: without one it would take the whole processor. */
  function replace(dead: Thread, reason: string, pause_ms: number): void {
    const isMissed = threads.delete(dead) && isStanding;
    for (const [id, thread] of confined) if (thread === dead) confined.delete(id);
    const goOn = died(dead, reason);
    setTimeout(() => {
      if (stopped) return;
      if (isMissed) threads.add(spawn());
      goOn();
    }, pause_ms);
  }

  /** One piece of work that blocks a thread may not block the others on it. */
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
    /** Where this work goes; `placed` is what there is already. */
    choose(id: string, owner: string, placed: Iterable<Placed>): Thread {
      const chosen = confined.get(id) ?? chooseThread(owner, threads, placed, most);
      if (chosen) return chosen;
      const another = spawn();
      threads.add(another);
      return another;
    },
    /** Passes on what was sent to any of them in this tick. */
    flush(): void {
      for (const thread of [...threads, ...confined.values()]) thread.flush?.();
    },
    /** Gives these a thread of their own, until all of them are freed. */
    confine(ids: readonly string[]): void {
      const thread = spawn();
      for (const id of ids) confined.set(id, thread);
    },
    /** Ends the thread of a suspect that needs it no longer, unless another one does. */
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
