import { readFileSync } from "node:fs";
import { join } from "node:path";
import { newId } from "../domain/ids.ts";
import type { JournalEntry, RunEvent } from "../domain/run-event.ts";
import { createProjectStore } from "../resources/projects/store.ts";
import { createUsageProjection, createUsageSums } from "../resources/usage/usage-projection.ts";
import { createRunProjection } from "../runs/run-projection.ts";
import { createAudit } from "../storage/db/audit.ts";
import { openDatabase } from "../storage/db/open.ts";
import { Journal } from "../storage/journal/journal.ts";

/** Folder of the old journals. */
export const corpus = join(import.meta.dir, "../domain/__fixtures__/journals/v1");

/** Opens a journal whose clock stands at `at` until it is set, and that counts the usage of its runs. */
export async function openUsageJournal(at: number) {
  const db = openDatabase(":memory:");
  const project = await createProjectStore({ db, audit: createAudit({ db }) }).create("shop");
  const projectRun = createRunProjection(db.sqlite);
  const projectUsage = createUsageProjection(createUsageSums(db));
  const clock = { at };
  const journal = new Journal({
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

/** Returns the history in a file of the corpus. */
export const eventsOf = (file: string): RunEvent[] =>
  readFileSync(join(corpus, file), "utf8")
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as JournalEntry).event);

/** Returns the same history as another run. */
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
