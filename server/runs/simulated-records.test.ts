import { beforeAll, describe, expect, test } from "bun:test";
import { type StepPair, stepPairs } from "../domain/diff.ts";
import { CannotFork } from "../domain/fork.ts";
import type { JournalEntry, RunEvent } from "../domain/run-event.ts";
import { isOver } from "../domain/run-state.ts";
import { type StepUsage, traceOf } from "../domain/trace.ts";
import { hashJson } from "../lib/hash.ts";
import { openDatabase } from "../storage/db/open.ts";
import { corpus, type Recorded } from "../testing/corpus.ts";
import { type Compared, compareFork, forkOf, stepsOf } from "../testing/fork-of.ts";
import { runFixture } from "../testing/run-fixture.ts";
import { live, recordedLives } from "../testing/simulation/life.ts";
import { createReplays } from "./replay/replay.ts";

// Checks records of simulated lives, in which processes, threads, storage, models, tools and clients fail at random,
// and records of earlier versions. These tests fail if such a life breaks a promise.
type Run = Omit<Recorded, "name">;
const lived: Run[] = [];
const records: JournalEntry[][] = corpus.filter(({ name }) => name.startsWith("v1/")).map(({ entries }) => entries);

// The length of a life is counted in steps, not in time: a busy machine may take minutes for all.
beforeAll(() => {
  const db = openDatabase(":memory:");
  for (let seed = 0; seed < recordedLives; seed++) live(db, seed, (run) => lived.push(run));
  db.close();
  records.push(...lived.map(({ entries }) => entries));
}, 3_600_000);

test("a strict replay of any run equals its record, entry by entry, and a comparison finds no difference", async () => {
  using fixture = runFixture();
  const { journal, scope, runs: store } = fixture;
  const runs: Run[] = [...lived, ...corpus.map((old) => ownOf(fixture, old))];
  expect(runs.length).toBeGreaterThan(1000);
  await fixture.db.write(() => {
    for (const { entries, agent } of runs) {
      journal.insertRecord(idOf(entries), entries);
      journal.pin(scope, idOf(entries), agent);
    }
  });
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
}, 3_600_000);

/** Returns an old record as that of a run of the fixture. */
function ownOf({ scope, journal }: ReturnType<typeof runFixture>, { entries: [first, ...rest], agent }: Recorded): Run {
  const own = { ...scope, agent_hash: journal.hashOf(agent) };
  return { entries: [{ ...first!, event: { ...first!.event, ...own } as RunEvent }, ...rest], agent };
}

function idOf([first]: readonly JournalEntry[]): string {
  if (first?.event.type !== "run.created") throw new Error("A journal begins with run.created.");
  return first.event.run_id;
}

describe("a fork without edits", () => {
  const all: Compared[] = [];
  beforeAll(() => {
    for (const run of lived) all.push(...stepsOf(run.entries).flatMap((step) => compared(run, step) ?? []));
  }, 3_600_000);

  test("has the state that its record had at that step, whatever happened to the run", () => {
    expect(lived.length).toBeGreaterThan(1000);
    expect(all.length).toBeGreaterThan(1000);
    for (const { fork, record } of all) expect(fork).toEqual(record);
  });

  test("has the prompt of the record", () => {
    const asked = all.filter(({ input_hash }) => input_hash !== null);
    expect(asked.length).toBeGreaterThan(500);
    for (const { requests, input_hash } of asked) expect(hashJson(requests[0])).toBe(input_hash!);
  });
});

/** Returns null if the step cannot be forked. */
function compared({ entries, agent }: Run, step: number): Compared | null {
  try {
    return compareFork(entries, step, agent);
  } catch (error) {
    if (error instanceof CannotFork) return null;
    throw error;
  }
}

/** Returns the record with a replay's id and time. */
const replayOf = (entries: readonly JournalEntry[]): JournalEntry[] =>
  entries.map(({ seq, at, event }) => ({
    seq,
    at: at + 86_400_000,
    event:
      event.type === "run.created"
        ? { ...event, run_id: "run_replay", replay_of: event.run_id, recorded_to: entries.length }
        : event,
  }));

const differing = (a: readonly JournalEntry[], b: readonly JournalEntry[]): StepPair[] => [
  ...stepPairs(traceOf(a).steps, traceOf(b).steps),
];

test("a run and its replay do not differ, whatever happened to the run", () => {
  expect(records.length).toBeGreaterThan(1000);
  for (const entries of records)
    for (const { change, a_step_index, b_step_index, differences } of differing(entries, replayOf(entries)))
      expect([change, b_step_index, differences]).toEqual(["equal", a_step_index, []]);
});

test("a fork without edits does not differ from its record up to its step", () => {
  let count = 0;
  for (const entries of records.filter((_, index) => index % 4 === 0))
    for (const step of stepsOf(entries)) {
      const fork = forkOrNull(entries, step);
      if (!fork) continue; // None of its steps can differ.
      const upTo = differing(entries, fork).filter(({ b_step_index }) => b_step_index !== null && b_step_index <= step);
      for (const { change, a_step_index, b_step_index } of upTo)
        expect([change, b_step_index]).toEqual(["equal", a_step_index]);
      count += upTo.length;
    }
  expect(count).toBeGreaterThan(1000);
});

function forkOrNull(entries: readonly JournalEntry[], step: number): JournalEntry[] | null {
  try {
    return forkOf(entries, step);
  } catch (error) {
    if (error instanceof CannotFork) return null; // The run could not continue from there.
    throw error;
  }
}

test("exactly the one changed output of a run is found", () => {
  for (const entries of records.slice(0, 200)) {
    const last = entries.findLastIndex(({ event }) => event.type === "step.completed" && event.answer !== null);
    const { event } = entries[last] ?? {};
    if (event?.type !== "step.completed" || !event.answer) continue;
    const parts = [...event.answer.parts, { type: "text" as const, text: " and more" }];
    const other = entries.with(last, {
      ...entries[last]!,
      event: { ...event, answer: { ...event.answer, parts } } as RunEvent,
    });
    const [first] = differing(entries, other).filter(({ change }) => change !== "equal");
    expect(first).toMatchObject({ a_step_index: event.step_index, differences: [{ path: "output.content" }] });
  }
});

test("every step is in the trace once, under its number, and none of a finished run is open", () => {
  for (const entries of records) {
    const begun = entries.flatMap(({ event }) =>
      event.type === "step.started" || event.type === "guardrail.decided" ? [event.step_index] : [],
    );
    const { steps, state } = traceOf(entries);
    expect(isOver(state.status)).toBe(true);
    expect(steps.map(({ step_index }) => step_index)).toEqual(begun.toSorted((a, b) => a - b));
    for (const { status, latency_ms } of steps) {
      expect(["in_progress", "waiting"]).not.toContain(status);
      expect(latency_ms ?? 0).toBeGreaterThanOrEqual(0);
    }
  }
});

test("the durations of steps and abandoned attempts add up to that of the run", () => {
  const tokens = ({ input_tokens, output_tokens }: StepUsage): number => (input_tokens ?? 0) + (output_tokens ?? 0);
  for (const entries of records) {
    const { steps, state } = traceOf(entries);
    const usages = steps.flatMap(({ usage, retries }) => [usage, ...retries.map((retry) => retry.usage)]);
    const taken = usages.flatMap((usage) => (usage ? [tokens(usage)] : []));
    expect(taken.reduce((sum, one) => sum + one, 0)).toBe(state.usage.total_tokens ?? 0);
  }
});

test("a raw trace has all entries of its journal except those without a step", () => {
  for (const entries of records) {
    const raw = traceOf(entries, { raw: true }).steps.flatMap((step) => step.raw ?? []);
    const others = entries.filter(({ event }) =>
      /^(run\.|tool\.requested|history|documents|output\.)/.test(event.type),
    );
    expect([...raw, ...others].toSorted((a, b) => a.seq - b.seq)).toEqual(entries);
  }
});
