import type { Database } from "bun:sqlite";
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

type Outcome = { ok: true; value: unknown } | { ok: false; error: unknown };

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
export function createWriter(
  sqlite: Database,
  { relieve = () => false, endRead = () => {}, kept = noCache, slice_ms = default_slice_ms, committed }: Options = {},
): Writer {
  // Prepared once, because these run at every commit.
  const [begin, end, back] = ["BEGIN IMMEDIATE", "COMMIT", "ROLLBACK"].map((sql) => sqlite.query(sql));
  const deferred: Deferred[] = [];
  const finish = (): void => {
    for (const work of deferred) work.finish();
  };
  const forget = (): void => {
    kept.forget();
    for (const work of deferred) work.forget();
  };
  let queue: Queued[] = [];
  let scheduled = false;
  let holds = 0;
  let commits = 0;
  const timed = createEventEmitter<[transaction_ms: number, commit_ms: number]>();
  const leaving = createEventEmitter<[]>();
  /** Owner of all queued jobs, if each of them touches only runs; otherwise null. */
  let only: string | null = null;

  function write<T>(work: () => T, owner = "", touches?: "runs", leave?: Leave<T>): Promise<T> {
    const job = touches ? work : () => kept.change(work);
    only = touches && (queue.length === 0 || only === owner) ? owner : null;
    return new Promise<T>((resolve, reject) => {
      queue.push({ owner, job, resolve: resolve as Queued["resolve"], reject, leave: leave as Queued["leave"] });
      schedule();
    });
  }

  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    gather(performance.now() + gather_ms);
  }

  /**
   * Commits after a turn of the event loop that brought no more entries of one project's runs, because a commit costs
   * as much as several jobs. Does not wait if other jobs are queued.
   */
  function gather(until: number): void {
    const known = queue.length;
    setImmediate(() => {
      if (only !== null && queue.length > known && performance.now() < until) gather(until);
      else tick();
    });
  }

  function tick(): void {
    scheduled = false;
    if (queue.length > 0 && holds === 0) commitSlice();
    goOn();
  }

  /** Schedules the jobs that remain after a slice or a hold. */
  function goOn(): void {
    if (queue.length === 0 || holds > 0 || scheduled) return;
    scheduled = true;
    setImmediate(tick);
  }

  async function hold<T>(work: Promise<T>, most_ms: number): Promise<T> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, most_ms);
    holds++;
    void Promise.race([work.catch(() => {}), promise]).then(() => {
      clearTimeout(timer);
      holds--;
      goOn();
    });
    return work;
  }

  function flush(): void {
    while (queue.length > 0) commitSlice();
  }

  /** Commits as many jobs as fit into a slice, and settles them. */
  function commitSlice(): void {
    const waiting = roundRobin(queue);
    queue = [];
    endRead();
    const outcomes = commit(waiting, withoutSavepoint) ?? oneByOne(waiting);
    queue = [...waiting.slice(outcomes.length), ...queue];
    if (committed) void committed().then(() => settle(waiting, outcomes));
    else settle(waiting, outcomes);
  }

  function oneByOne(waiting: readonly Queued[]): Outcome[] {
    const outcomes = commit(waiting, inSavepoint)!;
    const full = waiting.slice(0, outcomes.length).filter((_, index) => isFull(outcomes[index]!));
    const again = full.length > 0 && relieve() ? commit(full, inSavepoint, Number.POSITIVE_INFINITY)! : [];
    return outcomes.map((outcome, index) => again[full.indexOf(waiting[index]!)] ?? outcome);
  }

  /**
   * Returns the outcomes of the jobs that ran and committed within `ms`. Returns null if a job threw and all were
   * rolled back; in savepoints, a failure of the storage rejects all waiting jobs.
   */
  function commit(waiting: readonly Queued[], run: typeof inSavepoint, ms = slice_ms): Outcome[] | null {
    const outcomes: Outcome[] = [];
    const left: (() => void)[] = [];
    const begun = performance.now();
    const until = begun + ms;
    try {
      // Immediate: a deferred transaction that becomes a write fails at once if another process wrote meanwhile.
      begin!.run();
      kept.look();
      for (const { job } of waiting) {
        outcomes.push(run(sqlite, job, finish));
        if (!outcomes.at(-1)!.ok) forget();
        if (performance.now() >= until) break;
      }
      finish();
      if (!committed) sendAhead(waiting, outcomes, left);
      const done = performance.now();
      end!.run();
      const ended = performance.now();
      timed.tell(ended - begun, ended - done);
      commits++;
      return outcomes;
    } catch (error) {
      // A full disk has rolled back already: a second ROLLBACK would throw and hide the cause.
      if (inTransaction(sqlite)) back!.run();
      forget();
      for (const takeBack of left) takeBack();
      return run === withoutSavepoint ? null : waiting.map(() => ({ ok: false, error }));
    }
  }

  /** Calls `leave` of the jobs about to be committed, and collects the undo functions in `left`. */
  function sendAhead(waiting: readonly Queued[], outcomes: readonly Outcome[], left: (() => void)[]): void {
    for (const [index, outcome] of outcomes.entries()) {
      const takeBack = outcome.ok && waiting[index]!.leave?.(outcome.value);
      if (takeBack) left.push(takeBack);
    }
    if (left.length === 0) return;
    leaving.tell();
    failpoint?.("mid_commit");
  }

  return Object.assign(write, {
    flush,
    commits: () => commits,
    timed: timed.listen,
    leaving: leaving.listen,
    defer: (work: Deferred): void => void deferred.push(work),
    hold,
  });
}

function settle(waiting: readonly Queued[], outcomes: readonly Outcome[]): void {
  outcomes.forEach((outcome, index) => {
    const { resolve, reject } = waiting[index]!;
    if (outcome.ok) resolve(outcome.value);
    else reject(outcome.error);
  });
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

const withoutSavepoint = (_: Database, job: () => unknown): Outcome => ({ ok: true, value: job() });

// A savepoint per job: one that fails must not affect the others.
function inSavepoint(sqlite: Database, job: () => unknown, finish: () => void): Outcome {
  sqlite.run("SAVEPOINT job");
  try {
    const value = job();
    finish();
    sqlite.run("RELEASE job");
    return { ok: true, value };
  } catch (error) {
    if (!sqlite.inTransaction) throw error; // The disk is full: the transaction is already rolled back.
    sqlite.run("ROLLBACK TO job");
    sqlite.run("RELEASE job");
    return { ok: false, error };
  }
}
