import type { Database } from "bun:sqlite";
import { isDiskFull } from "./disk-full.ts";

/**
 * Queues one job for the next commit and answers when it is durable. Jobs are synchronous, touch nothing but the
 * database and may run twice: all of a tick share one transaction, unless they take long, and if one throws, those of its
 * transaction run again in savepoints.
 */
export interface Writer {
  <T>(job: () => T): Promise<T>;
  /** Commits what is queued, now. For shutdown; everybody else awaits their job. */
  flush(): void;
  /** Transactions committed so far: benchmarks and tests count them. */
  commits(): number;
}

interface Queued {
  job: () => unknown;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

// Thousands of jobs may come at once: after so long the others wait for the next tick, and everybody else is heard first.
const slice_ms = 8;

type Outcome = { ok: true; value: unknown } | { ok: false; error: unknown };

/**
 * Group commit: one durable commit (an fsync) for what arrives in one tick, as far as it takes no longer than a slice. `relieve` makes room on a full
 * disk: what was refused for want of it is then tried once more, before anybody hears of it. `endRead` ends the
 * transaction in which this connection reads, if there is one.
 */
export function createWriter(
  sqlite: Database,
  { relieve = () => false, endRead = () => {} }: { relieve?: () => boolean; endRead?: () => void } = {},
): Writer {
  // Prepared once: these run at every commit.
  const [begin, end, back] = ["BEGIN IMMEDIATE", "COMMIT", "ROLLBACK"].map((sql) => sqlite.query(sql));
  let queue: Queued[] = [];
  let scheduled = false;
  let commits = 0;

  function write<T>(job: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      queue.push({ job, resolve: resolve as Queued["resolve"], reject });
      schedule();
    });
  }

  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    setImmediate(tick);
  }

  function tick(): void {
    scheduled = false;
    if (queue.length > 0) commitSlice();
    if (queue.length > 0) schedule();
  }

  function flush(): void {
    while (queue.length > 0) commitSlice();
  }

  /** Commits the jobs that have waited longest, as many as fit into a slice. */
  function commitSlice(): void {
    const waiting = queue;
    queue = [];
    endRead();
    let tried = 0;
    const until = performance.now() + slice_ms;
    const fitting = function* () {
      for (const queued of waiting) {
        if (tried > 0 && performance.now() >= until) return;
        tried++;
        yield queued;
      }
    };
    const done = commit(fitting(), plainly);
    // Where the transaction has not even begun, all of them hear why.
    const batch = waiting.slice(0, tried || waiting.length);
    queue = [...waiting.slice(batch.length), ...queue];
    const outcomes = done ?? oneByOne(batch);
    batch.forEach(({ resolve, reject }, index) => {
      const outcome = outcomes[index]!;
      if (outcome.ok) resolve(outcome.value);
      else reject(outcome.error);
    });
  }

  function oneByOne(batch: Queued[]): Outcome[] {
    const outcomes = commit(batch, inSavepoint)!;
    const full = batch.filter((_, index) => isFull(outcomes[index]!));
    const again = full.length > 0 && relieve() ? commit(full, inSavepoint)! : [];
    return batch.map((queued, index) => again[full.indexOf(queued)] ?? outcomes[index]!);
  }

  /** Null when a job threw and the whole batch was rolled back; a failed commit fails every job. */
  function commit(batch: Iterable<Queued>, run: (sqlite: Database, job: Queued["job"]) => Outcome): Outcome[] | null {
    try {
      // Immediate: a deferred transaction that turns into a write fails at once when another process wrote meanwhile.
      begin!.run();
      const outcomes = Array.from(batch, ({ job }) => run(sqlite, job));
      end!.run();
      commits++;
      return outcomes;
    } catch (error) {
      // A full disk has already rolled back: a second ROLLBACK would throw and hide the cause.
      if (sqlite.inTransaction) back!.run();
      return run === plainly ? null : Array.from(batch, () => ({ ok: false, error }));
    }
  }

  return Object.assign(write, { flush, commits: () => commits });
}

const isFull = (outcome: Outcome): boolean => !outcome.ok && isDiskFull(outcome.error);

const plainly = (_: Database, job: () => unknown): Outcome => ({ ok: true, value: job() });

// One refused or broken job may not take its neighbours along.
function inSavepoint(sqlite: Database, job: () => unknown): Outcome {
  sqlite.run("SAVEPOINT job");
  try {
    const value = job();
    sqlite.run("RELEASE job");
    return { ok: true, value };
  } catch (error) {
    if (!sqlite.inTransaction) throw error; // The disk is full: there is no transaction left to go back in.
    sqlite.run("ROLLBACK TO job");
    sqlite.run("RELEASE job");
    return { ok: false, error };
  }
}
