import type { Database, Statement } from "bun:sqlite";
import { createEventEmitter } from "../../lib/event-emitter.ts";
import { failpoint } from "../../lib/failpoint.ts";
import { isDiskFull } from "./disk-guard.ts";
import type { RowCache } from "./row-cache.ts";

/**
 * Queues a job for the next commit and resolves when it is durable. Jobs are synchronous, touch only the database and
 * may run twice: waiting jobs share a transaction within a time slice, and if one throws, all run again in savepoints.
 * Jobs of one owner become durable in order, round robin over owners; two jobs are never guaranteed to share a commit.
 * A job that `touches` "runs" changes only runs and what derives from them, so other cached rows stay valid.
 */
export interface Writer {
  /** `leave` is called with the job's result: see `Leave`. */
  <T>(job: () => T, owner?: string, touches?: "runs", leave?: Leave<T>): Promise<T>;
  /** Commits the queued jobs now. For shutdown; all other callers await their job. */
  flush(): void;
  /** Number of transactions committed, for benchmarks and tests. */
  commits(): number;
  /** Subscribes to the duration of each transaction, and of the commit within it, in milliseconds. */
  timed(hear: (transaction_ms: number, commit_ms: number) => void): void;
  /** Subscribes to commits that sent something ahead (`Leave`); called before the commit itself. */
  leaving(hear: () => void): void;
  /** Registers work that runs once before each commit, or is dropped with a rollback. */
  defer(work: Deferred): void;
  /**
   * Delays commits until `work` settles, at most `most_ms`; jobs that arrive meanwhile share the next commit. Not for
   * `flush`.
   */
  hold<T>(work: Promise<T>, most_ms: number): Promise<T>;
}

/**
 * Sends a job's result ahead of the commit that makes it durable, so that it does not wait for the disk; not called if
 * the durable copy is elsewhere. Returns an undo function for a failed commit, or null. The job may then run again,
 * with another call of this.
 */
export type Leave<T> = (value: T) => (() => void) | null;

interface Deferred {
  /** Called inside the transaction. */
  finish(): void;
  /** Called after a rollback. */
  forget(): void;
}

interface Queued {
  owner: string;
  job: () => unknown;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
  leave?: Leave<unknown>;
}

// Jobs run at most this long per tick; the rest waits for the next tick, so that requests are not starved.
const default_slice_ms = 8;
// Maximum wait for more entries of one project's runs, while every turn brings some.
const gather_ms = 3;

/** A job that ran, and its result. */
type Outcome = { queued: Queued } & ({ ok: true; value: unknown } | { ok: false; error: unknown });

interface Options {
  relieve?: () => boolean;
  endRead?: () => void;
  kept?: Pick<RowCache, "look" | "forget" | "change">;
  slice_ms?: number;
  /** Called after each commit if the durable copy is elsewhere; jobs resolve when it does. */
  committed?: () => Promise<void>;
}

/**
 * Group commit: one durable commit (an fsync) for the jobs of consecutive turns, up to one time slice. `relieve` frees
 * room on a full disk; refused jobs are then retried once before they fail. `endRead` ends the read transaction of this
 * connection; `kept` is the row cache.
 */
export function createWriter(sqlite: Database, options: Options = {}): Writer {
  const group = new GroupCommit(sqlite, options);
  return Object.assign(group.write, {
    flush: group.flush,
    commits: () => group.commits,
    timed: group.timed.listen,
    leaving: group.leaving.listen,
    defer: group.defer,
    hold: group.hold,
  });
}

class GroupCommit {
  commits = 0;
  readonly timed = createEventEmitter<[transaction_ms: number, commit_ms: number]>();
  readonly leaving = createEventEmitter<[]>();
  readonly #sqlite: Database;
  readonly #options: Required<Omit<Options, "committed">> & Pick<Options, "committed">;
  readonly #statements: Record<"begin" | "commit" | "rollback", Statement>;
  readonly #deferred: Deferred[] = [];
  #queue: Queued[] = [];
  #isScheduled = false;
  #holds = 0;
  /** Owner of all queued jobs, if each of them touches only runs; otherwise null. */
  #onlyOwner: string | null = null;

  constructor(
    sqlite: Database,
    { relieve = () => false, endRead = () => {}, kept = noCache, slice_ms = default_slice_ms, committed }: Options,
  ) {
    this.#sqlite = sqlite;
    this.#options = { relieve, endRead, kept, slice_ms, committed };
    // Prepared once, because these run at every commit.
    this.#statements = {
      begin: sqlite.query("BEGIN IMMEDIATE"),
      commit: sqlite.query("COMMIT"),
      rollback: sqlite.query("ROLLBACK"),
    };
  }

  readonly write = <T>(work: () => T, owner = "", touches?: "runs", leave?: Leave<T>): Promise<T> => {
    const job = touches ? work : () => this.#options.kept.change(work);
    this.#onlyOwner = touches && (this.#queue.length === 0 || this.#onlyOwner === owner) ? owner : null;
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ owner, job, resolve: resolve as Queued["resolve"], reject, leave: leave as Queued["leave"] });
      this.#schedule();
    });
  };

  readonly flush = (): void => {
    while (this.#queue.length > 0) this.#commitSlice();
  };

  readonly defer = (work: Deferred): void => void this.#deferred.push(work);

  readonly hold = async <T>(work: Promise<T>, most_ms: number): Promise<T> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, most_ms);
    this.#holds++;
    void Promise.race([work.catch(() => {}), promise]).then(() => {
      clearTimeout(timer);
      this.#holds--;
      this.#goOn();
    });
    return work;
  };

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#gather(performance.now() + gather_ms);
  }

  /**
   * Commits after a turn of the event loop that brought no more entries of one project's runs, because a commit costs
   * as much as several jobs. Does not wait if other jobs are queued.
   */
  #gather(until: number): void {
    const known = this.#queue.length;
    setImmediate(() => {
      if (this.#onlyOwner !== null && this.#queue.length > known && performance.now() < until) this.#gather(until);
      else this.#tick();
    });
  }

  #tick(): void {
    this.#isScheduled = false;
    if (this.#queue.length > 0 && this.#holds === 0) this.#commitSlice();
    this.#goOn();
  }

  /** Schedules the jobs that remain after a slice or a hold. */
  #goOn(): void {
    if (this.#queue.length === 0 || this.#holds > 0 || this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#tick());
  }

  /** Commits as many jobs as fit into a slice, and settles them. */
  #commitSlice(): void {
    const { endRead, committed } = this.#options;
    const waiting = roundRobin(this.#queue);
    this.#queue = [];
    endRead();
    const outcomes = this.#commitTogether(waiting);
    this.#queue = [...waiting.slice(outcomes.length), ...this.#queue];
    if (committed) void committed().then(() => settle(outcomes));
    else settle(outcomes);
  }

  #commitTogether(waiting: readonly Queued[]): Outcome[] {
    try {
      return this.#commit(waiting, withoutSavepoint);
    } catch {
      return this.#commitOneByOne(waiting);
    }
  }

  #commitOneByOne(waiting: readonly Queued[]): Outcome[] {
    const outcomes = this.#commitInSavepoints(waiting);
    const full = outcomes.filter(isFull).map(({ queued }) => queued);
    if (full.length === 0 || !this.#options.relieve()) return outcomes;
    const again = new Map(
      this.#commitInSavepoints(full, Number.POSITIVE_INFINITY).map((outcome) => [outcome.queued, outcome]),
    );
    return outcomes.map((outcome) => again.get(outcome.queued) ?? outcome);
  }

  /** Rejects all waiting jobs if the storage fails. */
  #commitInSavepoints(waiting: readonly Queued[], ms?: number): Outcome[] {
    try {
      return this.#commit(waiting, inSavepoint, ms);
    } catch (error) {
      return waiting.map((queued) => ({ queued, ok: false, error }));
    }
  }

  /** Returns the outcomes of the jobs that ran and committed within `ms`. Rolls all back if it throws. */
  #commit(waiting: readonly Queued[], run: typeof inSavepoint, ms = this.#options.slice_ms): Outcome[] {
    const { kept, committed } = this.#options;
    const { begin, commit, rollback } = this.#statements;
    const outcomes: Outcome[] = [];
    const undo: (() => void)[] = [];
    const begun = performance.now();
    const until = begun + ms;
    try {
      // Immediate: a deferred transaction that becomes a write fails at once if another process wrote meanwhile.
      begin.run();
      kept.look();
      for (const queued of waiting) {
        const outcome = run(this.#sqlite, queued, this.#finish);
        outcomes.push(outcome);
        if (!outcome.ok) this.#forget();
        if (performance.now() >= until) break;
      }
      this.#finish();
      if (!committed) this.#sendAhead(outcomes, undo);
      const done = performance.now();
      commit.run();
      const ended = performance.now();
      this.timed.tell(ended - begun, ended - done);
      this.commits++;
      return outcomes;
    } catch (error) {
      // A full disk has rolled back already: a second ROLLBACK would throw and hide the cause.
      if (inTransaction(this.#sqlite)) rollback.run();
      this.#forget();
      for (const takeBack of undo) takeBack();
      throw error;
    }
  }

  /** Calls `leave` of the jobs about to be committed, and collects the undo functions. */
  #sendAhead(outcomes: readonly Outcome[], undo: (() => void)[]): void {
    for (const outcome of outcomes) {
      const takeBack = outcome.ok && outcome.queued.leave?.(outcome.value);
      if (takeBack) undo.push(takeBack);
    }
    if (undo.length === 0) return;
    this.leaving.tell();
    failpoint?.("mid_commit");
  }

  readonly #finish = (): void => {
    for (const work of this.#deferred) work.finish();
  };

  #forget(): void {
    this.#options.kept.forget();
    for (const work of this.#deferred) work.forget();
  }
}

function settle(outcomes: readonly Outcome[]): void {
  for (const outcome of outcomes) {
    if (outcome.ok) outcome.queued.resolve(outcome.value);
    else outcome.queued.reject(outcome.error);
  }
}

const noCache: NonNullable<Options["kept"]> = { look() {}, forget() {}, change: (job) => job() };

/** Orders the first job of each owner, then the second of each: one project's many jobs do not delay another's. */
function roundRobin(queue: readonly Queued[]): readonly Queued[] {
  const before = new Map<string, number>();
  const ranked = queue.map((one) => {
    const round = before.get(one.owner) ?? 0;
    before.set(one.owner, round + 1);
    return { round, one };
  });
  return before.size < 2 ? queue : ranked.sort((a, b) => a.round - b.round).map(({ one }) => one);
}

/** Returns false for a closed database, which throws here. */
function inTransaction(sqlite: Database): boolean {
  try {
    return sqlite.inTransaction;
  } catch {
    return false;
  }
}

const isFull = (outcome: Outcome): boolean => !outcome.ok && isDiskFull(outcome.error);

const withoutSavepoint = (_: Database, queued: Queued): Outcome => ({ queued, ok: true, value: queued.job() });

// A savepoint per job: one that fails must not affect the others.
function inSavepoint(sqlite: Database, queued: Queued, finish: () => void): Outcome {
  sqlite.run("SAVEPOINT job");
  try {
    const value = queued.job();
    finish();
    sqlite.run("RELEASE job");
    return { queued, ok: true, value };
  } catch (error) {
    if (!sqlite.inTransaction) throw error; // The disk is full: the transaction is already rolled back.
    sqlite.run("ROLLBACK TO job");
    sqlite.run("RELEASE job");
    return { queued, ok: false, error };
  }
}
