import { beforeAll, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { diffSteps, type StepPair } from "../core/diff.ts";
import { CannotFork } from "../core/fork.ts";
import type { JournalEntry, RunEvent } from "../core/run-event.ts";
import { isOver } from "../core/run-state.ts";
import { type StepUsage, traceOf } from "../core/trace.ts";
import { openDatabase } from "../db/open.ts";
import { forkOf, stepsOf } from "../testing/fork-of.ts";
import { live } from "../testing/simulation/life.ts";

// Journals of earlier versions, and of lives in which processes, threads, storage, models, tools and clients fail at random.
const lives = Number(process.env.SEEDS ?? 300);
const corpus = `${import.meta.dir}/../core/__fixtures__/journals/v1`;
const records: JournalEntry[][] = readdirSync(corpus)
  .filter((file) => file.endsWith(".jsonl"))
  .map((file) => readFileSync(`${corpus}/${file}`, "utf8").trimEnd().split("\n"))
  .map((lines) => lines.map((line) => JSON.parse(line)));

beforeAll(() => {
  const db = openDatabase(":memory:");
  for (let seed = 0; seed < lives; seed++) live(db, seed, ({ entries }) => records.push(entries));
  db.close();
}, 60_000);

/** The record as a replay has it: under another id, at another time. */
const replayOf = (entries: readonly JournalEntry[]): JournalEntry[] =>
  entries.map(({ seq, at, event }) => ({
    seq,
    at: at + 86_400_000,
    event:
      event.type === "run.created"
        ? { ...event, run_id: "run_replay", replay_of: event.run_id, recorded_to: entries.length }
        : event,
  }));

const compared = (a: readonly JournalEntry[], b: readonly JournalEntry[]): StepPair[] =>
  diffSteps(traceOf(a).steps, traceOf(b).steps);

test("nothing differs between a run, whatever befell it, and its replay", () => {
  expect(records.length).toBeGreaterThan(1000);
  for (const entries of records)
    for (const { change, a_step_index, b_step_index, differences } of compared(entries, replayOf(entries)))
      expect([change, b_step_index, differences]).toEqual(["equal", a_step_index, []]);
});

test("a fork without edits does not differ from its record up to the step that it was made at", () => {
  let count = 0;
  for (const entries of records.filter((_, index) => index % 4 === 0))
    for (const step of stepsOf(entries)) {
      const fork = forkOrNull(entries, step);
      const upTo = compared(entries, fork ?? []).filter(
        ({ b_step_index }) => b_step_index !== null && b_step_index <= step,
      );
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
    if (error instanceof CannotFork) return null; // Nothing could go on there.
    throw error;
  }
}

test("what one run says otherwise is found, and nothing else", () => {
  for (const entries of records.slice(0, 200)) {
    const last = entries.findLastIndex(({ event }) => event.type === "step.completed" && event.answer !== null);
    const { event } = entries[last] ?? {};
    if (event?.type !== "step.completed" || !event.answer) continue;
    const parts = [...event.answer.parts, { type: "text" as const, text: " and more" }];
    const other = entries.with(last, {
      ...entries[last]!,
      event: { ...event, answer: { ...event.answer, parts } } as RunEvent,
    });
    const [first] = compared(entries, other).filter(({ change }) => change !== "equal");
    expect(first).toMatchObject({ a_step_index: event.step_index, differences: [{ path: "output.content" }] });
  }
});

test("every step stands in the trace once, under its number, and none of a run that is over goes on", () => {
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

test("steps and the attempts that were given up took together what the run took", () => {
  const tokens = ({ input_tokens, output_tokens }: StepUsage): number => (input_tokens ?? 0) + (output_tokens ?? 0);
  for (const entries of records) {
    const { steps, state } = traceOf(entries);
    const usages = steps.flatMap(({ usage, retries }) => [usage, ...retries.map((retry) => retry.usage)]);
    const taken = usages.flatMap((usage) => (usage ? [tokens(usage)] : []));
    expect(taken.reduce((sum, one) => sum + one, 0)).toBe(state.usage.total_tokens ?? 0);
  }
});

test("read with raw, a trace has all entries of its journal but those that belong to no step", () => {
  for (const entries of records) {
    const raw = traceOf(entries, { raw: true }).steps.flatMap((step) => step.raw ?? []);
    const others = entries.filter(({ event }) =>
      /^(run\.|tool\.requested|history|documents|output\.)/.test(event.type),
    );
    expect([...raw, ...others].toSorted((a, b) => a.seq - b.seq)).toEqual(entries);
  }
});
