import type { JournalEntry } from "../../domain/run-event.ts";
import type { Scope } from "../../domain/scope.ts";
import { createYielder } from "../../lib/cooperative-yield.ts";
import type { Log } from "../../lib/log.ts";
import type { Db } from "../db/open.ts";
import { createPostCommitJobs } from "../db/post-commit-jobs.ts";
import type { runs } from "../db/schema.ts";
import { isShown, type Journal } from "./journal.ts";

const columns = [
  ...(["id", "project_id", "environment", "agent_id", "status", "seq", "model", "user_id", "session_id"] as const),
  ...(["thread_id", "origin", "created_at_ms", "ended_at_ms", "worked_ms", "summary", "projected"] as const),
];

/** Row of an ended run. `summary` is the run as JSON, once its trace was deleted. */
export type EndedRun = Scope &
  Pick<typeof runs.$inferSelect, (typeof columns)[number]> & {
    ended_at_ms: number;
    /** Metadata as JSON. */
    metadata: string;
  };

/** Projects one run: receives every entry, then writes inside a write that may be retried. */
interface Projected {
  entry(entry: JournalEntry): void;
  write(): void;
  /** Returns the run's cost in nano-dollars, or null if unknown. Stored in its row together with the done mark. */
  cost?(): number | null;
}

/** A projection of ended runs that may run seconds later. `bit` marks a run as done. */
export interface Projection {
  bit: number;
  begin(run: EndedRun): Projected;
}

/** Measures the working time of this thread, without waits for its turn and for commits. */
function stopwatch() {
  let worked_ms = 0;
  return {
    work<T>(of: () => T): T {
      const startTime = performance.now();
      try {
        return of();
      } finally {
        worked_ms += performance.now() - startTime;
      }
    },
    worked_ms: () => worked_ms,
  };
}
type Stopwatch = ReturnType<typeof stopwatch>;

/** All bits: a run with nothing left to project. Also in the index `runs_unprojected`. */
const all = 3;

// A write takes at most this long, and after it the thread is free for `share` times as long.
const write_ms = 5;
const share = 4;
const runsPerRound = 200;
const entriesPerRead = 200;

interface EndedRunsOptions {
  db: Db;
  journal: Journal;
  log: Log;
  /** Throws while the disk is nearly full. */
  requireRoom?: () => void;
}

/**
 * Projects ended runs in the background, outside of the runs' commits. Pending work is marked in their rows, so that a
 * crash neither loses nor repeats any; newest runs come first. Idle while nothing is committed.
 */
export function createPostRunProjections({ db, journal, log, requireRoom }: EndedRunsOptions) {
  const { sqlite } = db;
  const projections: Projection[] = [];
  const selectDue = sqlite.query<EndedRun, [number]>(
    `SELECT ${columns.join(", ")}, metadata FROM runs INDEXED BY runs_unprojected
     WHERE ended_at_ms IS NOT NULL AND projected < ${all} AND ${isShown} ORDER BY id DESC LIMIT ?`,
  );
  const mark = sqlite.query<unknown, Pick<EndedRun, "id" | "projected"> & { cost: number | null; isGone: 0 | 1 }>(
    `UPDATE runs SET projected = ${all}, cost_nano_usd = ifnull($cost, cost_nano_usd)
     WHERE id = $id AND projected = $projected AND (summary IS NULL) = $isGone`,
  );

  /** Passes a run's entries to the projections that have not seen it; of a corrupt record those before the fault. */
  async function collect(run: EndedRun, { work }: Stopwatch, yieldTurn: () => Promise<void>): Promise<Projected[]> {
    const due = projections.filter(({ bit }) => (run.projected & bit) === 0).map(({ begin }) => begin(run));
    if (run.summary !== null) return due;
    try {
      for (let after = 0; ; ) {
        const entries = work(() => {
          const { entries } = journal.readSome(run.id, after, entriesPerRead);
          for (const entry of entries) for (const one of due) one.entry(entry);
          return entries;
        });
        const last = entries.at(-1);
        if (!last) return due;
        after = last.seq;
        await yieldTurn();
      }
    } catch (error) {
      log.warn("a run is not found by all that it says: its record is damaged", { run_id: run.id, error });
      return due;
    }
  }

  /**
   * Writes the projections of a run, unless it was changed or deleted since it was read; it is then read again. Call it
   * inside a write.
   */
  function write({ id, projected, summary }: EndedRun, of: readonly Projected[]): void {
    const cost = of.flatMap((one) => one.cost?.() ?? [])[0] ?? null;
    if (mark.run({ id, projected, cost, isGone: summary === null ? 1 : 0 }).changes === 0) return;
    for (const one of of) one.write();
  }

  /** Projects up to `limit` due runs, and returns their number. */
  async function round(limit: number, pause: (worked_ms: number) => Promise<void>): Promise<number> {
    const rest = createYielder();
    const due = selectDue.all(limit).reverse(); // Ascending ids are cheaper to write into an index.
    for (let from = 0; from < due.length; ) {
      const watch = stopwatch();
      const ready: (readonly [EndedRun, Projected[]])[] = [];
      for (let run = due[from]; run && watch.worked_ms() < write_ms; run = due[++from]) {
        ready.push([run, await collect(run, watch, rest)]);
        await rest();
      }
      for (let offset = 0; offset < ready.length; ) {
        const first = offset;
        const writeSome = () => {
          const until = performance.now() + write_ms;
          let next = first;
          for (let one = ready[next]; one; one = ready[++next]) {
            if (next > first && performance.now() > until) break;
            write(...one);
          }
          return next;
        };
        offset = await db.write(() => watch.work(writeSome), "", "runs");
      }
      await pause(watch.worked_ms());
    }
    return due.length;
  }

  const pauseFor = (worked_ms: number) => Bun.sleep(share * worked_ms);
  const { start, stop, working } = createPostCommitJobs({
    db,
    log,
    requireRoom,
    failed: "runs that are over are not searchable yet",
    async work(goOn) {
      while (goOn() && (await round(runsPerRound, pauseFor)) === runsPerRound);
    },
  });

  return {
    follow: (projection: Projection): void => void projections.push(projection),
    start,
    stop,
    /** Projects all due runs now, without pauses. */
    async catchUp(): Promise<void> {
      await working();
      while ((await round(runsPerRound, async () => {})) > 0);
    },
  };
}
