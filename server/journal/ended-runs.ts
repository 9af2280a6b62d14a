import type { JournalEntry } from "../core/run-event.ts";
import type { Scope } from "../core/scope.ts";
import { createAfterCommits } from "../db/after-commits.ts";
import type { Db } from "../db/open.ts";
import type { runs } from "../db/schema.ts";
import type { Log } from "../lib/log.ts";
import { inSlices } from "../lib/slices.ts";
import { isShown, type Journal } from "./journal.ts";

const columns = [
  ...(["id", "project_id", "environment", "agent_id", "status", "seq", "model", "user_id", "session_id"] as const),
  ...(["thread_id", "origin", "created_at_ms", "ended_at_ms", "worked_ms", "summary", "projected"] as const),
];

/** A run that is over, as its row has it. `summary` is the run as JSON, once its trace was deleted. */
export type EndedRun = Scope &
  Pick<typeof runs.$inferSelect, (typeof columns)[number]> & {
    ended_at_ms: number;
    /** JSON. */
    metadata: string;
  };

/** What is made of one run: it is shown every entry, and then writes, within a write that may be tried twice. */
interface Projected {
  entry(entry: JournalEntry): void;
  write(): void;
  /** What the run has cost, in nano-dollars; null where nobody knows. It goes into its row with the note that it has been done. */
  cost?(): number | null;
}

/** Something that follows from runs that are over and may come seconds later. `bit` says of a run that it has been done. */
export interface Projection {
  bit: number;
  begin(run: EndedRun): Projected;
}

/** Counts how long a thread has worked at something, and not how long that waited for its turn and for commits. */
function stopwatch() {
  let worked_ms = 0;
  return {
    work<T>(of: () => T): T {
      const begun = performance.now();
      try {
        return of();
      } finally {
        worked_ms += performance.now() - begun;
      }
    },
    worked_ms: () => worked_ms,
  };
}
type Stopwatch = ReturnType<typeof stopwatch>;

/** All bits: what a run has of which nothing is left to be done. Indexed as `runs_unprojected`. */
const all = 3;

// Whoever waits for the next write waits for so long, and whoever wants the thread has most of it.
const write_ms = 5;
const share = 4;
const runsPerRound = 200;
const entriesPerRead = 200;

interface EndedRunsOptions {
  db: Db;
  journal: Pick<Journal, "readSome">;
  log: Log;
  /** Throws while the disk is nearly full. */
  requireRoom?: () => void;
}

/**
 * Follows the runs that are over, beside what they are busy with: nothing of it is in the commits of runs. What is still to be
 * done stands in their rows, so that a crash loses none of it and repeats none; the newest come first. Nothing is done while
 * nothing is committed.
 */
export function createEndedRuns({ db, journal, log, requireRoom }: EndedRunsOptions) {
  const { sqlite } = db;
  const projections: Projection[] = [];
  const selectDue = sqlite.query<EndedRun, [number]>(
    `SELECT ${columns.join(", ")}, metadata FROM runs INDEXED BY runs_unprojected
     WHERE ended_at_ms IS NOT NULL AND projected < ${all} AND ${isShown} ORDER BY id DESC LIMIT ?`,
  );
  const mark = sqlite.query<unknown, [number, number | null, string, number, number]>(
    `UPDATE runs SET projected = ?1, cost_nano_usd = ifnull(?2, cost_nano_usd)
     WHERE id = ?3 AND projected = ?4 AND (summary IS NULL) = ?5`,
  );

  /** Shows a run to whoever has not had it. A record that cannot be read is shown as far as it can. */
  async function collect(run: EndedRun, { work }: Stopwatch, rest: () => Promise<void>): Promise<Projected[]> {
    const due = projections.filter(({ bit }) => (run.projected & bit) === 0).map(({ begin }) => begin(run));
    if (run.summary !== null) return due;
    try {
      for (let after = 0; ; ) {
        const entries = work(() => {
          const { entries } = journal.readSome(run.id, after, entriesPerRead);
          for (const entry of entries) for (const one of due) one.entry(entry);
          return entries;
        });
        if (entries.length === 0) return due;
        after = entries.at(-1)!.seq;
        await rest();
      }
    } catch (error) {
      log.warn("a run is not found by all that it says: its record is damaged", { run_id: run.id, error });
      return due;
    }
  }

  /** Within a write: nothing where the run was changed or deleted since it was read; it is read anew then. */
  function write({ id, projected, summary }: EndedRun, of: readonly Projected[]): void {
    const cost = of.flatMap((one) => one.cost?.() ?? [])[0] ?? null;
    if (mark.run(all, cost, id, projected, summary === null ? 1 : 0).changes === 0) return;
    for (const one of of) one.write();
  }

  /** Does a round of those that are due. Returns how many those were. */
  async function round(limit: number, pause: (worked_ms: number) => Promise<void>): Promise<number> {
    const rest = inSlices();
    const due = selectDue.all(limit).reverse(); // In the order of their ids: an index is cheaper to write so.
    for (let from = 0; from < due.length; ) {
      const watch = stopwatch();
      const ready: (readonly [EndedRun, Projected[]])[] = [];
      for (; from < due.length && watch.worked_ms() < write_ms; from++) {
        ready.push([due[from]!, await collect(due[from]!, watch, rest)]);
        await rest();
      }
      for (let done = 0; done < ready.length; ) {
        const first = done;
        const writeSome = () => {
          let next = first;
          for (const until = performance.now() + write_ms; next < ready.length; next++) {
            if (next > first && performance.now() > until) break;
            write(...ready[next]!);
          }
          return next;
        };
        done = await db.write(() => watch.work(writeSome), "", "runs");
      }
      await pause(watch.worked_ms());
    }
    return due.length;
  }

  const beside = (worked_ms: number) => Bun.sleep(share * worked_ms);
  const { start, stop, working } = createAfterCommits({
    db,
    log,
    requireRoom,
    failed: "runs that are over are not searchable yet",
    async work(goOn) {
      while (goOn() && (await round(runsPerRound, beside)) === runsPerRound);
    },
  });

  return {
    follow: (projection: Projection): void => void projections.push(projection),
    start,
    stop,
    /** Does all that is due, now and without a pause. */
    async catchUp(): Promise<void> {
      await working();
      while ((await round(runsPerRound, async () => {})) > 0);
    },
  };
}
