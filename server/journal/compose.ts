import { happening } from "../core/origin.ts";
import type { JournalEntry } from "../core/run-event.ts";
import type { Db } from "../db/open.ts";
import { createSignal } from "../lib/signal.ts";
import { createJournal, type Projector, type RunProjector } from "./journal.ts";

/** The journal, and who follows it: they are told in the order in which they were composed. */
export function composeJournal({ db, projectRun, now }: { db: Db; projectRun: RunProjector; now: () => number }) {
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
  };
}

export type Journals = ReturnType<typeof composeJournal>;
