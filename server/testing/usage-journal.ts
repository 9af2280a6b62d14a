import { readFileSync } from "node:fs";
import { join } from "node:path";
import { newId } from "../core/ids.ts";
import type { JournalEntry, RunEvent } from "../core/run-event.ts";
import { createAudit } from "../db/audit.ts";
import { openDatabase } from "../db/open.ts";
import { createJournal } from "../journal/journal.ts";
import { createProjectStore } from "../projects/store.ts";
import { createRunProjector } from "../runs/project.ts";
import { createUsageProjector, createUsageSums } from "../usage/project.ts";

/** Where old journals lie. */
export const corpus = join(import.meta.dir, "../core/__fixtures__/journals/v1");

/** A journal whose clock stands at `at` until it is set, and that counts what its runs use. */
export async function openUsageJournal(at: number) {
  const db = openDatabase(":memory:");
  const project = await createProjectStore({ db, audit: createAudit({ db }) }).create("shop");
  const projectRun = createRunProjector(db.sqlite);
  const projectUsage = createUsageProjector(createUsageSums(db));
  const clock = { at };
  const journal = createJournal({
    db,
    project: (before, entries) => {
      const run = projectRun(before, entries);
      projectUsage(run, entries);
      return run;
    },
    wake: () => {},
    now: () => clock.at,
  });
  return { db, project, journal, clock, [Symbol.dispose]: () => db.close() };
}

/** The history in a file of the corpus. */
export const eventsOf = (file: string): RunEvent[] =>
  readFileSync(join(corpus, file), "utf8")
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as JournalEntry).event);

/** The same history, as another run. */
export function asNew(
  events: RunEvent[],
  project_id: string,
  more: { agent_id?: string; model?: string } = {},
): { id: string; events: RunEvent[] } {
  const id = newId("run");
  const named = (event: RunEvent): RunEvent =>
    event.type === "run.created" ? { ...event, run_id: id, project_id, ...more } : event;
  return { id, events: events.map(named) };
}
