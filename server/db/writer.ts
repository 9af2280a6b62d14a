import type { Database } from "bun:sqlite";
import { isDiskFull } from "./disk-full.ts";

/**
 * Queues one job for the next commit and answers when it is durable. Jobs are synchronous, touch nothing but the
 * database and may run twice: all of a tick share one transaction, and if one throws, all run again in savepoints.
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

type Outcome = { ok: true; value: unknown } | { ok: false; error: unknown };

/**
 * Group commit: one durable commit (an fsync) for everything that arrives in one tick. `relieve` makes room on a full
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
      if (scheduled) return;
      scheduled = true;
      setImmediate(flush);
    });
  }

  function flush(): void {
    scheduled = false;
    const batch = queue;
    if (batch.length === 0) return;
    queue = [];
    endRead();
    const outcomes = commit(batch, plainly) ?? oneByOne(batch);
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
  function commit(batch: Queued[], run: (sqlite: Database, job: Queued["job"]) => Outcome): Outcome[] | null {
    try {
      // Immediate: a deferred transaction that turns into a write fails at once when another process wrote meanwhile.
      begin!.run();
      const outcomes = batch.map(({ job }) => run(sqlite, job));
      end!.run();
      commits++;
      return outcomes;
    } catch (error) {
      // A full disk has already rolled back: a second ROLLBACK would throw and hide the cause.
      if (sqlite.inTransaction) back!.run();
      return run === plainly ? null : batch.map(() => ({ ok: false, error }));
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
