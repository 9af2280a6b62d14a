import type { JournalEntry } from "../../domain/run-event.ts";
import { newEntries } from "../../domain/run-trigger.ts";
import { createEventEmitter } from "../../lib/event-emitter.ts";
import type { Log } from "../../lib/log.ts";
import type { Db } from "../db/open.ts";
import { Journal, type Pin, type Projector, type RunProjector } from "./journal.ts";
import { createPostRunProjections } from "./post-run-projections.ts";

interface Needs {
  db: Db;
  log: Log;
  projectRun: RunProjector;
  requireRoom(): void;
  now: () => number;
}

/** Composes the journal with its subscribers, which are called in the order of their subscription. */
export function createJournalModule({ db, log, projectRun, requireRoom, now }: Needs) {
  const happened = createEventEmitter<Parameters<Projector>>();
  const committed = createEventEmitter<[runId: string, entries: readonly JournalEntry[]]>();
  const pinned = createEventEmitter<Pin>();
  const journal = new Journal({
    db,
    project(before, entries) {
      const run = projectRun(before, entries);
      const now = newEntries(entries);
      if (now.length > 0) happened.tell(run, now);
      return run;
    },
    wake: committed.tell,
    pinned: pinned.tell,
    now,
  });
  return {
    journal,
    /** Subscribes a projector that runs inside the write, for what happens to runs but not for imported records. */
    project: happened.listen,
    /** Subscribes to agents that runs pin, inside the write: also those of forks, replays and imports. */
    onPin: pinned.listen,
    /** Subscribes to entries after their write. */
    onCommit: committed.listen,
    /** Projections of ended runs, outside of the runs' own writes. */
    ended: createPostRunProjections({ db, log, journal, requireRoom }),
  };
}

export type Journals = ReturnType<typeof createJournalModule>;
