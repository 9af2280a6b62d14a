import { beginsModelCall, endsRun, type JournalEntry, type ModelAnswer } from "../../domain/run-event.ts";
import { type Delta, marksOf } from "../../runtime/agent-loop/messages.ts";

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

type Listener = (runId: string, entries: readonly JournalEntry[]) => void;

/** The readers of one run, and what they share. */
class Subscription {
  /** Number of commits: a reader that has seen the newest one has read the journal to its end. */
  commits = 0;
  live: Live | null = null;
  waiters = new Set<() => void>();
  /** Waiters that ignore deltas. */
  commitWaiters = new Set<() => void>();
  /** Number of joined waiters: it is kept while there are any, or stream readers, or while a call is live. */
  joined = 0;
  /** Wake functions of stream readers. */
  readonly readers = new Set<() => void>();

  /** True if nothing is lost with it. */
  isUnused(): boolean {
    return this.joined === 0 && this.readers.size === 0 && this.live === null;
  }

  /** Counts a commit, and keeps the live deltas in step with the journal. */
  commit(entries: readonly JournalEntry[]): void {
    this.commits++;
    for (const { seq, event } of entries) {
      if (beginsModelCall(event)) this.live = newLive(seq, event.step_index);
      else if (event.type === "step.completed" && event.step_type === "model_call") this.live = null;
      // Drop the lost attempt's deltas: their ids would be older than this entry's.
      else if (event.type === "run.recovered" || endsRun(event)) this.live = null;
    }
    const { commitWaiters } = this;
    this.commitWaiters = new Set();
    for (const waiter of commitWaiters) waiter();
  }

  wakeWaiters(): void {
    const { waiters } = this;
    this.waiters = new Set();
    for (const waiter of waiters) waiter();
  }

  /**
   * Resolves true when something happened (with `commits`: was committed), false after `ms` or when the returned
   * function is called.
   */
  wait(ms: number, of: "anything" | "commits"): { happened: Promise<boolean>; cancel: () => void } {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const settle = (happened: boolean) => {
      clearTimeout(timer);
      this.waiters.delete(wake);
      this.commitWaiters.delete(wake);
      resolve(happened);
    };
    const wake = () => settle(true);
    const cancel = () => settle(false);
    const timer = setTimeout(cancel, ms);
    (of === "commits" ? this.commitWaiters : this.waiters).add(wake);
    return { happened: promise, cancel };
  }
}

/** Notifies readers of a run. Readers pull from the journal and the live deltas, so no per-reader queue is kept. */
export class RunSubscriptions {
  readonly #now: () => number;
  readonly #subscriptions = new Map<string, Subscription>();
  readonly #listeners = new Set<Listener>();
  /** Those whose stream readers are to be notified. */
  readonly #changed = new Set<Subscription>();

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Call after these entries became durable. */
  committed(runId: string, entries: readonly JournalEntry[]): void {
    const subscription = this.#of(runId);
    subscription.commit(entries);
    this.#wake(subscription);
    this.#forgetUnused(runId, subscription);
    for (const listener of this.#listeners) listener(runId, entries);
  }

  /** Registers a model call whose start an earlier process or another node recorded, and that has streamed nothing yet. */
  resume(runId: string, anchor: number, step_index: number): void {
    this.#of(runId).live ??= newLive(anchor, step_index);
  }

  /** Drops the live deltas of runs for which `isThere` is false: they have moved to another node. */
  keepOnly(isThere: (runId: string) => boolean): void {
    for (const [runId, subscription] of this.#subscriptions) {
      if (isThere(runId)) continue;
      subscription.live = null;
      this.#forgetUnused(runId, subscription);
    }
  }

  /** Adds a delta. Those of an attempt that was superseded are ignored. */
  delta(runId: string, piece: Delta): void {
    const subscription = this.#subscriptions.get(runId);
    const live = subscription?.live;
    if (!live || live.anchor !== piece.anchor) return;
    live.length += piece.text.length;
    live.pieces.push({ ...piece, at: this.#now(), end: live.length });
    this.#wake(subscription);
  }

  /** Stores the length generated so far. Does not wake readers: they receive nothing of it. */
  generated(runId: string, anchor: number, length: number): void {
    const live = this.live(runId);
    if (live?.anchor === anchor) live.generatedLength = length;
  }

  /** Adds a stream reader: `onChange` is called after each tick with changes; each reader passes its own function. */
  read(runId: string, onChange: () => void) {
    const subscription = this.#of(runId);
    subscription.readers.add(onChange);
    return {
      commits: () => subscription.commits,
      live: () => subscription.live,
      /** Must be called; idempotent. */
      leave: () => {
        if (subscription.readers.delete(onChange)) this.#forgetUnused(runId, subscription);
      },
    };
  }

  /** Adds a waiter. `leave` must be called; it is idempotent. */
  join(runId: string) {
    const subscription = this.#of(runId);
    let isHere = true;
    let cancel = () => {};
    subscription.joined++;
    return {
      commits: () => subscription.commits,
      live: () => subscription.live,
      /**
       * Resolves true when something happened (with `commits`: was committed), false after `ms` or after `leave`. One
       * wait at a time.
       */
      next: (ms: number, of: "anything" | "commits" = "anything"): Promise<boolean> => {
        if (!isHere) return Promise.resolve(false);
        const wait = subscription.wait(ms, of);
        cancel = wait.cancel;
        return wait.happened;
      },
      leave: () => {
        if (!isHere) return;
        isHere = false;
        cancel();
        subscription.joined--;
        this.#forgetUnused(runId, subscription);
      },
    };
  }

  /** Number of stream readers of a run. */
  readers(runId: string): number {
    return this.#subscriptions.get(runId)?.readers.size ?? 0;
  }

  live(runId: string): Live | null {
    return this.#subscriptions.get(runId)?.live ?? null;
  }

  /** Calls the listener for every commit, until the returned function is called. */
  listen(listener: Listener): () => boolean {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** For tests: number of runs that something is kept of. */
  size(): number {
    return this.#subscriptions.size;
  }

  #of(runId: string): Subscription {
    const existing = this.#subscriptions.get(runId);
    if (existing) return existing;
    const subscription = new Subscription();
    this.#subscriptions.set(runId, subscription);
    return subscription;
  }

  /** Wakes waiters now, and stream readers at the end of the tick. */
  #wake(subscription: Subscription): void {
    subscription.wakeWaiters();
    if (subscription.readers.size === 0) return;
    if (this.#changed.size === 0) process.nextTick(() => this.#notifyReaders());
    this.#changed.add(subscription);
  }

  /** Notifies once per tick, after the loops have their replies: the next model output depends on them. */
  #notifyReaders(): void {
    const changed = [...this.#changed];
    this.#changed.clear();
    for (const { readers } of changed) for (const reader of readers) reader();
  }

  #forgetUnused(runId: string, subscription: Subscription): void {
    if (subscription.isUnused()) this.#subscriptions.delete(runId);
  }
}

const newLive = (anchor: number, step_index: number): Live => ({
  anchor,
  step_index,
  pieces: [],
  length: 0,
  generatedLength: 0,
});

/** Returns the streamed part of a model call, in the shape of the entry that ends its step. */
export function partialAnswer(live: Omit<Live, "generatedLength">): Pick<ModelAnswer, "parts" | "deltas"> {
  const parts: TextPart[] = [];
  const deltas: number[] = [];
  const places = new Map<number, { index: number; part: TextPart }>();
  for (const piece of live.pieces) {
    const place = places.get(piece.part) ?? newPlace(parts, piece.kind);
    places.set(piece.part, place);
    place.part.text += piece.text;
    for (const [length, ms] of marksOf(piece)) deltas.push(place.index, length, ms);
  }
  return { parts, deltas };
}

type TextPart = Extract<ModelAnswer["parts"][number], { text: string }>;

function newPlace(parts: TextPart[], kind: Delta["kind"]): { index: number; part: TextPart } {
  const part: TextPart = { type: kind === "output" ? "text" : "reasoning", text: "" };
  return { index: parts.push(part) - 1, part };
}
