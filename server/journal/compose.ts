import { happening } from "../core/origin.ts";
import type { JournalEntry } from "../core/run-event.ts";
import type { Db } from "../db/open.ts";
import type { Log } from "../lib/log.ts";
import { createSignal } from "../lib/signal.ts";
import { createEndedRuns } from "./ended-runs.ts";
import { createJournal, type Projector, type RunProjector } from "./journal.ts";

interface Needs {
  db: Db;
  log: Log;
  projectRun: RunProjector;
  requireRoom(): void;
  now: () => number;
}

/** The journal, and who follows it: they are told in the order in which they were composed. */
export function composeJournal({ db, log, projectRun, requireRoom, now }: Needs) {
  const happened = createSignal<Parameters<Projector>>();
  const committed = createSignal<[runId: string, entries: readonly JournalEntry[]]>();
  const journal = createJournal({
    db,
    project(before, entries) {
      const run = projectRun(before, entries);
      const now = happening(entries);
      if (now.length > 0) happened.tell(run, now);
      return run;
    },
    wake: committed.tell,
    now,
  });
  return {
    journal,
    /** Within the write: keeps a table in step with what happens to runs, and not with the records that they are given. */
    project: happened.listen,
    /** After the write. */
    onCommit: committed.listen,
    /** Beside the writes, some time after a run has ended. */
    ended: createEndedRuns({ db, log, journal, requireRoom }),
  };
}

export type Journals = ReturnType<typeof composeJournal>;
