import { beforeAll, expect, test } from "bun:test";
import type { AgentSnapshot } from "../core/agent-snapshot.ts";
import { CannotFork } from "../core/fork.ts";
import type { JournalEntry } from "../core/run-event.ts";
import { openDatabase } from "../db/open.ts";
import { hashJson } from "../lib/hash.ts";
import { type Compared, compareFork, stepsOf } from "../testing/fork-of.ts";
import { live } from "../testing/simulation/life.ts";

// Lives of the simulation, in which processes, threads, storage, models, tools and clients fail at random.
const lives = Number(process.env.SEEDS ?? 200);

interface Run {
  entries: JournalEntry[];
  agent: AgentSnapshot;
}
let runs = 0;
const all: Compared[] = [];

beforeAll(() => {
  const db = openDatabase(":memory:");
  for (let seed = 0; seed < lives; seed++)
    live(db, seed, (run) => {
      runs++;
      all.push(...stepsOf(run.entries).flatMap((step) => compared(run, step) ?? []));
    });
  db.close();
}, 60_000);

/** Null where there is nothing to fork at the step. */
function compared({ entries, agent }: Run, step: number): Compared | null {
  try {
    return compareFork(entries, step, agent);
  } catch (error) {
    if (error instanceof CannotFork) return null;
    throw error;
  }
}

test("a fork without edits has of its record what that had when it went on, whatever befell it", () => {
  expect(runs).toBeGreaterThan(1000);
  expect(all.length).toBeGreaterThan(1000);
  for (const { fork, record } of all) expect(fork).toEqual(record);
});

test("the model is then asked what it was asked in the record", () => {
  const asked = all.filter(({ input_hash }) => input_hash !== null);
  expect(asked.length).toBeGreaterThan(500);
  for (const { requests, input_hash } of asked) expect(hashJson(requests[0])).toBe(input_hash!);
});
