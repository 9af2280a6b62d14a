import { beginsModelCall, endsRun, type JournalEntry, type ModelAnswer } from "../../domain/run-event.ts";
import type { Delta } from "../../runtime/agent-loop/messages.ts";

/** Live deltas of a run's current model call, in memory until the entry that ends the step holds them. */
export interface Live {
  /** `seq` of the step's newest start. */
  anchor: number;
  step_index: number;
  /** Each merges deltas that arrived together; `end` is the total length up to its end. */
  pieces: (Delta & { at: number; end: number })[];
  /** UTF-16 code units so far. */
  length: number;
  /** `length` plus text that is no delta: incomplete tool call arguments, and text withheld by a guardrail. */
  generatedLength: number;
}

interface Watch {
  /** Number of commits: a reader that has seen the newest one has read the journal to its end. */
  commits: number;
  live: Live | null;
  waiters: Set<() => void>;
  /** Waiters that ignore deltas. */
  commitWaiters: Set<() => void>;
  /** Number of joined waiters: the watch is kept while there are any, or stream readers, or while a call is live. */
  joined: number;
  /** Wake functions of stream readers. */
  readers: Set<() => void>;
}

type Listener = (runId: string, entries: readonly JournalEntry[]) => void;

export type RunSubscriptions = ReturnType<typeof createRunSubscriptions>;

/** Notifies readers of a run. Readers pull from the journal and the live deltas, so no per-reader queue is kept. */
export function createRunSubscriptions(now: () => number = Date.now) {
  const watches = new Map<string, Watch>();
  const listeners = new Set<Listener>();
  // Watches whose readers are to be notified.
  const changed = new Set<Watch>();

  function watchOf(runId: string): Watch {
    const known = watches.get(runId);
    if (known) return known;
    const none = {
      waiters: new Set<() => void>(),
      commitWaiters: new Set<() => void>(),
      readers: new Set<() => void>(),
    };
    const watch: Watch = { commits: 0, live: null, joined: 0, ...none };
    watches.set(runId, watch);
    return watch;
  }

  function wake(watch: Watch): void {
    const { waiters } = watch;
    watch.waiters = new Set();
    for (const waiter of waiters) waiter();
    if (watch.readers.size === 0) return;
    if (changed.size === 0) process.nextTick(notifyReaders);
    changed.add(watch);
  }

  /** Notifies once per tick, after the loops have their replies: the next model output depends on them. */
  function notifyReaders(): void {
    const list = [...changed];
    changed.clear();
    for (const { readers } of list) for (const reader of readers) reader();
  }

  function forget(runId: string, watch: Watch): void {
    if (watch.joined === 0 && watch.readers.size === 0 && watch.live === null) watches.delete(runId);
  }

  /** Call after these entries became durable. */
  function committed(runId: string, entries: readonly JournalEntry[]): void {
    const watch = watchOf(runId);
    watch.commits++;
    for (const { seq, event } of entries) {
      if (beginsModelCall(event)) watch.live = begin(seq, event.step_index);
      else if (event.type === "step.completed" && event.step_type === "model_call") watch.live = null;
      // Drop the lost attempt's deltas: their ids would be older than this entry's.
      else if (event.type === "run.recovered" || endsRun(event)) watch.live = null;
    }
    const { commitWaiters } = watch;
    watch.commitWaiters = new Set();
    for (const waiter of commitWaiters) waiter();
    wake(watch);
    forget(runId, watch);
    for (const listener of listeners) listener(runId, entries);
  }

  /** Registers a model call that began on another node and has streamed nothing yet. */
  function goOn(runId: string, anchor: number, step_index: number): void {
    watchOf(runId).live ??= begin(anchor, step_index);
  }

  /** Drops the live deltas of runs for which `isThere` is false: they have moved to another node. */
  function keepOnly(isThere: (runId: string) => boolean): void {
    for (const [runId, watch] of watches) {
      if (isThere(runId)) continue;
      watch.live = null;
      forget(runId, watch);
    }
  }

  function delta(runId: string, piece: Delta): void {
    const watch = watches.get(runId);
    // Ignore deltas of an attempt that was superseded.
    if (watch?.live?.anchor !== piece.anchor) return;
    watch.live.length += piece.text.length;
    watch.live.pieces.push({ ...piece, at: now(), end: watch.live.length });
    wake(watch);
  }

  /** Does not wake readers: they receive nothing of it. */
  function said(runId: string, anchor: number, length: number): void {
    const live = watches.get(runId)?.live;
    if (live?.anchor === anchor) live.generatedLength = length;
  }

  /** Adds a stream reader: `onChange` is called after each tick with changes; each reader passes its own function. */
  function read(runId: string, onChange: () => void) {
    const watch = watchOf(runId);
    watch.readers.add(onChange);
    return {
      commits: () => watch.commits,
      live: () => watch.live,
      /** Must be called; idempotent. */
      leave() {
        if (watch.readers.delete(onChange)) forget(runId, watch);
      },
    };
  }

  /** Adds a waiter. `leave` must be called; it is idempotent. */
  function join(runId: string) {
    const watch = watchOf(runId);
    let here = true;
    let giveUp = () => {};
    watch.joined++;
    return {
      commits: () => watch.commits,
      live: () => watch.live,
      /**
       * Resolves true when something happened (with `commits`: was committed), false after `ms` or after `leave`. One
       * wait at a time.
       */
      next(ms: number, of: "anything" | "commits" = "anything"): Promise<boolean> {
        if (!here) return Promise.resolve(false);
        return new Promise((resolve) => {
          const done = (happened: boolean) => {
            clearTimeout(timer);
            watch.waiters.delete(woken);
            watch.commitWaiters.delete(woken);
            giveUp = () => {};
            resolve(happened);
          };
          const woken = () => done(true);
          giveUp = () => done(false);
          const timer = setTimeout(giveUp, ms);
          (of === "commits" ? watch.commitWaiters : watch.waiters).add(woken);
        });
      },
      leave() {
        if (!here) return;
        here = false;
        giveUp();
        watch.joined--;
        forget(runId, watch);
      },
    };
  }

  return {
    committed,
    goOn,
    keepOnly,
    delta,
    said,
    read,
    join,
    readers: (runId: string) => watches.get(runId)?.readers.size ?? 0,
    live: (runId: string) => watches.get(runId)?.live ?? null,
    /** Calls the listener for every commit, until the returned function is called. */
    listen(listener: Listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    /** For tests: number of watches. */
    size: () => watches.size,
  };
}

const begin = (anchor: number, step_index: number): Live => ({
  anchor,
  step_index,
  pieces: [],
  length: 0,
  generatedLength: 0,
});

/** Returns the streamed part of a model call, in the shape of the entry that ends its step. */
export function partialAnswer(live: Omit<Live, "generatedLength">): Pick<ModelAnswer, "parts" | "deltas"> {
  const parts: Extract<ModelAnswer["parts"][number], { text: string }>[] = [];
  const deltas: number[] = [];
  const places = new Map<number, number>();
  for (const { part, kind, text, ms, marks = [text.length, ms] } of live.pieces) {
    if (!places.has(part))
      places.set(part, parts.push({ type: kind === "output" ? "text" : "reasoning", text: "" }) - 1);
    const place = places.get(part)!;
    parts[place]!.text += text;
    for (let i = 0; i < marks.length; i += 2) deltas.push(place, marks[i]!, marks[i + 1]!);
  }
  return { parts, deltas };
}
