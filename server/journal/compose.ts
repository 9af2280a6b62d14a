import { happening } from "../core/origin.ts";
import type { JournalEntry } from "../core/run-event.ts";
import type { Db } from "../db/open.ts";
import { createSignal } from "../lib/signal.ts";
import { createJournal, type Projector } from "./journal.ts";

/** The journal, and who follows it: they are told in the order in which they were composed. */
export function composeJournal({ db, projectRun, now }: { db: Db; projectRun: Projector; now: () => number }) {
  const happened = createSignal<Parameters<Projector>>();
  const committed = createSignal<[runId: string, entries: readonly JournalEntry[]]>();
  const journal = createJournal({
    db,
    project(head, entries) {
      projectRun(head, entries);
      const now = happening(entries);
      if (now.length > 0) happened.tell(head, now);
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
