import type { Database } from "bun:sqlite";
import { failpoint } from "../lib/failpoint.ts";
import { createSignal } from "../lib/signal.ts";
import { isDiskFull } from "./disk-full.ts";
import type { Keeper } from "./kept.ts";

/**
 * Queues one job for the next commit and answers when it is durable. Jobs are synchronous, touch nothing but the
 * database and may run twice: those that wait share a transaction as far as they fit into a slice of time, and if one
 * throws, they run again in savepoints. Jobs of one owner become durable in their order, round robin over owners; that two
 * jobs become durable together is never certain. A job that `touches` "runs" changes nothing but runs and what comes of
 * them: rows of all else that are kept in memory stay.
 */
export interface Writer {
  /** `leave` is told what the job gave: see `Leave`. */
  <T>(job: () => T, owner?: string, touches?: "runs", leave?: Leave<T>): Promise<T>;
  /** Commits what is queued, now. For shutdown; everybody else awaits their job. */
  flush(): void;
  /** Transactions committed so far: benchmarks and tests count them. */
  commits(): number;
  /** Told of each transaction, in milliseconds: how long it took, and its commit within that. */
  timed(hear: (transaction_ms: number, commit_ms: number) => void): void;
  /** Told when all that goes ahead of a commit has been said (`Leave`), before the commit itself. */
  leaving(hear: () => void): void;
  /** What jobs put off, once for all of them: to be done before they are committed, or forgotten with them. */
  defer(work: Deferred): void;
  /** Commits nothing until this has settled, or for so long: jobs that come meanwhile share the next commit. Not `flush`. */
  hold<T>(work: Promise<T>, most_ms: number): Promise<T>;
}

/**
 * What goes ahead of the commit that makes a job durable, so that it does not wait for the disk; not where the durable copy
 * is elsewhere. Returns how to take it back where the commit fails; the job may run again then, and be told again.
 */
export type Leave<T> = (value: T) => (() => void) | null;

interface Deferred {
  /** Within the transaction. */
  finish(): void;
  /** The transaction was rolled back. */
  forget(): void;
}

interface Queued {
  owner: string;
  job: () => unknown;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
  leave?: Leave<unknown>;
}

// Thousands of jobs may come at once: after so long the others wait for the next tick, and everybody else is heard first.
const default_slice_ms = 8;
// And so long are more entries of one project's runs waited for while every turn brings some.
const gather_ms = 3;

type Outcome = { ok: true; value: unknown } | { ok: false; error: unknown };

interface Options {
  relieve?: () => boolean;
  endRead?: () => void;
  kept?: Pick<Keeper, "look" | "forget" | "change">;
  slice_ms?: number;
  /** Of a database whose durable copy is elsewhere: called after each commit, and nobody hears of it before this settles. */
  committed?: () => Promise<void>;
}

/**
 * Group commit: one durable commit (an fsync) for what arrives in turns that follow each other, unless it takes longer
 * than a slice.
 * `relieve` makes room on a full disk: what was refused for want of it is then tried once more, before anybody hears of
 * it. `endRead` ends the transaction in which this connection reads, if there is one; `kept` is what is remembered of rows.
 */
export function createWriter(
  sqlite: Database,
  { relieve = () => false, endRead = () => {}, kept = noneKept, slice_ms = default_slice_ms, committed }: Options = {},
): Writer {
  // Prepared once: these run at every commit.
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
  const timed = createSignal<[transaction_ms: number, commit_ms: number]>();
  const leaving = createSignal<[]>();
  /** Whose runs alone have jobs in the queue; null where somebody else waits, too. */
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
   * Commits once a turn of the event loop has brought no more entries of one project's runs: a commit costs as much as the
   * work of several. Nobody waits for what another brings.
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

  /** For those that have waited for a slice, or for what held them. */
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

  /** Commits the next jobs, as many as fit into a slice, and settles them. */
  function commitSlice(): void {
    const waiting = roundRobin(queue);
    queue = [];
    endRead();
    const outcomes = commit(waiting, plainly) ?? oneByOne(waiting);
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
   * The outcomes of the first jobs, as many as were run and committed in this time. Null when a job threw and all were
   * rolled back; where it is the storage that takes nothing, everybody who waits hears why.
   */
  function commit(waiting: readonly Queued[], run: typeof inSavepoint, ms = slice_ms): Outcome[] | null {
    const outcomes: Outcome[] = [];
    const left: (() => void)[] = [];
    const begun = performance.now();
    const until = begun + ms;
    try {
      // Immediate: a deferred transaction that turns into a write fails at once when another process wrote meanwhile.
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
      // A full disk has already rolled back: a second ROLLBACK would throw and hide the cause.
      if (inTransaction(sqlite)) back!.run();
      forget();
      for (const takeBack of left) takeBack();
      return run === plainly ? null : waiting.map(() => ({ ok: false, error }));
    }
  }

  /** Says what goes ahead of the commit that begins now; `left` gets how to take it back. */
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

const noneKept: NonNullable<Options["kept"]> = { look() {}, forget() {}, change: (job) => job() };

/** The first job of each owner, then the second of each: one project's many jobs do not hold up another's. */
function roundRobin(queue: readonly Queued[]): readonly Queued[] {
  const before = new Map<string, number>();
  const ranked = queue.map((one) => {
    const round = before.get(one.owner) ?? 0;
    before.set(one.owner, round + 1);
    return { round, one };
  });
  return before.size < 2 ? queue : ranked.sort((a, b) => a.round - b.round).map(({ one }) => one);
}

/** A database that is closed throws where it is asked. */
function inTransaction(sqlite: Database): boolean {
  try {
    return sqlite.inTransaction;
  } catch {
    return false;
  }
}

const isFull = (outcome: Outcome): boolean => !outcome.ok && isDiskFull(outcome.error);

const plainly = (_: Database, job: () => unknown): Outcome => ({ ok: true, value: job() });

// One refused or broken job may not take its neighbours along.
function inSavepoint(sqlite: Database, job: () => unknown, finish: () => void): Outcome {
  sqlite.run("SAVEPOINT job");
  try {
    const value = job();
    finish();
    sqlite.run("RELEASE job");
    return { ok: true, value };
  } catch (error) {
    if (!sqlite.inTransaction) throw error; // The disk is full: there is no transaction left to go back in.
    sqlite.run("ROLLBACK TO job");
    sqlite.run("RELEASE job");
    return { ok: false, error };
  }
}
