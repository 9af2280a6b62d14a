import { beginsModelCall, endsRun, type JournalEntry, type ModelAnswer } from "../core/run-event.ts";
import type { Delta } from "../worker/messages.ts";

/** The deltas of the model call that a run is in: in memory until the entry that ends the step holds them. */
export interface Live {
  /** `seq` of the step's newest start. */
  anchor: number;
  step_index: number;
  /** Each with all that came together; it ends where the step was so long. */
  pieces: (Delta & { at: number; end: number })[];
  /** UTF-16 code units so far. */
  length: number;
  /** The same, with what is no delta: arguments of tool calls that are still arriving, and what a guardrail holds back. */
  said: number;
}

interface Watch {
  /** Grows with every commit: whoever has seen this number has read the journal to its end. */
  commits: number;
  live: Live | null;
  waiters: Set<() => void>;
  /** Those for whom deltas are nothing. */
  commitWaiters: Set<() => void>;
  /** Who waits and has not left: the watch is kept as long as there is somebody, or something is live. */
  joined: number;
  /** Those who read a stream. */
  readers: Set<() => void>;
}

type Listener = (runId: string, entries: readonly JournalEntry[]) => void;

export type Watches = ReturnType<typeof createWatches>;

/** Wakes those who wait for a run. Holds no queue: a reader that is woken reads the journal and the live deltas itself. */
export function createWatches(now: () => number = Date.now) {
  const watches = new Map<string, Watch>();
  const listeners = new Set<Listener>();
  // Whose readers are to be told.
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
    if (changed.size === 0) process.nextTick(tell);
    changed.add(watch);
  }

  /** Once for all that came in a tick, and after the loops have their answers: they are what the next text waits for. */
  function tell(): void {
    const list = [...changed];
    changed.clear();
    for (const { readers } of list) for (const reader of readers) reader();
  }

  function forget(runId: string, watch: Watch): void {
    if (watch.joined === 0 && watch.readers.size === 0 && watch.live === null) watches.delete(runId);
  }

  /** To be called after these entries became durable. */
  function committed(runId: string, entries: readonly JournalEntry[]): void {
    const watch = watchOf(runId);
    watch.commits++;
    for (const { seq, event } of entries) {
      if (beginsModelCall(event)) watch.live = begin(seq, event.step_index);
      else if (event.type === "step.completed" && event.step_type === "model_call") watch.live = null;
      // What a lost loop said is void from here on: told later, it would carry an id older than this entry's.
      else if (event.type === "run.recovered" || endsRun(event)) watch.live = null;
    }
    const { commitWaiters } = watch;
    watch.commitWaiters = new Set();
    for (const waiter of commitWaiters) waiter();
    wake(watch);
    forget(runId, watch);
    for (const listener of listeners) listener(runId, entries);
  }

  /** A model call that was begun elsewhere, and of which nothing was said yet, is made here. */
  function goOn(runId: string, anchor: number, step_index: number): void {
    watchOf(runId).live ??= begin(anchor, step_index);
  }

  /** Nobody says any more what they do: runs for which this is not true have left. */
  function keepOnly(isThere: (runId: string) => boolean): void {
    for (const [runId, watch] of watches) {
      if (isThere(runId)) continue;
      watch.live = null;
      forget(runId, watch);
    }
  }

  function delta(runId: string, piece: Delta): void {
    const watch = watches.get(runId);
    // A delta of a start that was given up in the meantime belongs to nothing.
    if (watch?.live?.anchor !== piece.anchor) return;
    watch.live.length += piece.text.length;
    watch.live.pieces.push({ ...piece, at: now(), end: watch.live.length });
    wake(watch);
  }

  /** Readers are not woken: they hear nothing of it. */
  function said(runId: string, anchor: number, length: number): void {
    const live = watches.get(runId)?.live;
    if (live?.anchor === anchor) live.said = length;
  }

  /** Joins those who read the stream of a run: `told`, a function of its own, is called after each tick that changed something. */
  function read(runId: string, told: () => void) {
    const watch = watchOf(runId);
    watch.readers.add(told);
    return {
      commits: () => watch.commits,
      live: () => watch.live,
      /** Must be called, and may twice. */
      leave() {
        if (watch.readers.delete(told)) forget(runId, watch);
      },
    };
  }

  /** Joins those who wait for a run; `leave` must be called, and may twice. */
  function join(runId: string) {
    const watch = watchOf(runId);
    let here = true;
    let giveUp = () => {};
    watch.joined++;
    return {
      commits: () => watch.commits,
      live: () => watch.live,
      /**
       * Returns true when something happened (with `commits`: was committed), false after `ms` without, or once it has
       * left. One wait at a time.
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
    /** Hears of every run that changed, until the answer is called. */
    listen(listener: Listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    /** For tests: how many runs are being watched. */
    size: () => watches.size,
  };
}

const begin = (anchor: number, step_index: number): Live => ({ anchor, step_index, pieces: [], length: 0, said: 0 });

/** What a model call has streamed, in the shape of the entry that ends its step. */
export function partialAnswer(live: Omit<Live, "said">): Pick<ModelAnswer, "parts" | "deltas"> {
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
