import { afterAll, beforeAll, expect, test } from "bun:test";
import { stepPairs } from "../core/diff.ts";
import type { JournalEntry } from "../core/run-event.ts";
import { traceOf } from "../core/trace.ts";
import { openDatabase } from "../db/open.ts";
import { corpus, type Recorded } from "../testing/corpus.ts";
import { runFixture } from "../testing/run-fixture.ts";
import { live } from "../testing/simulation/life.ts";
import { createReplays } from "./replay.ts";

// Records of earlier versions, and lives of the simulation, in which processes, threads, storage, models, tools and
// clients fail at random.
const lives = Number(process.env.SEEDS ?? 200);

const runs: Omit<Recorded, "name">[] = [];
const fixture = runFixture();
afterAll(() => fixture[Symbol.dispose]());

beforeAll(async () => {
  const db = openDatabase(":memory:");
  for (let seed = 0; seed < lives; seed++) live(db, seed, (run) => runs.push(run));
  db.close();
  for (const old of corpus) runs.push({ entries: here(old), agent: old.agent });
  await fixture.db.write(() => {
    for (const { entries, agent } of runs) {
      fixture.journal.insertRecord(idOf(entries), entries);
      fixture.journal.pin(fixture.scope, idOf(entries), agent);
    }
  });
}, 60_000);

/** An old record as one of a run of the fixture. */
function here({ entries: [first, ...rest], agent }: Recorded): JournalEntry[] {
  const own = { ...fixture.scope, agent_hash: fixture.journal.hashOf(agent) };
  return [{ ...first!, event: { ...first!.event, ...own } as JournalEntry["event"] }, ...rest];
}

function idOf([first]: readonly JournalEntry[]): string {
  if (first?.event.type !== "run.created") throw new Error("A journal begins with run.created.");
  return first.event.run_id;
}

test("a strict replay of any run is its record again, entry by entry, and a comparison finds no difference", async () => {
  expect(runs.length).toBeGreaterThan(1000);
  const { journal, scope, runs: store } = fixture;
  const replays = createReplays({ journal, runs: store, snapshot: () => runs[0]!.agent, now: Date.now });
  for (const { entries } of runs) {
    const copy = await replays.create(scope, idOf(entries), {}, "req_fixture");
    const record = journal.read(copy.id);
    expect(store.get(scope, copy.id).replay).toMatchObject({ divergences: [], model_calls: 0, tool_calls: 0 });
    expect(record.slice(1).map(({ seq, event }) => ({ seq, event }))).toEqual(
      entries.slice(1).map(({ seq, event }) => ({ seq, event })),
    );
    for (const { change, differences } of stepPairs(traceOf(entries).steps, traceOf(record).steps))
      expect({ change, differences }).toEqual({ change: "equal", differences: [] });
  }
}, 60_000);
