import { expect, test } from "bun:test";
import type { WorstCase } from "../../domain/budget.ts";
import type { JournalEntry, RunEvent } from "../../domain/run-event.ts";
import { noUsage } from "../../domain/usage.ts";
import { AppendRefused, type RunHead } from "../../storage/journal/journal.ts";
import { createDayBudgets } from "./day-budgets.ts";
import { createReservations } from "./reservations.ts";

const call = (tokens: number): WorstCase => ({ input_tokens: tokens, max_output_tokens: 0, fixed: true, price: null });
const entries = (...events: RunEvent[]): JournalEntry[] =>
  events.map((event, index) => ({ seq: index + 1, at: 0, event }));
const headOf = (run_id: string): RunHead => ({
  run_id,
  project_id: "proj_a",
  environment: "test",
  status: "in_progress",
  seq: 1,
  attempt: 1,
  parent_run_id: null,
  depth: 0,
  root_run_id: run_id,
});

function open() {
  const heads = new Map(["run_a", "run_b"].map((id) => [id, headOf(id)]));
  const dayBudgets = createDayBudgets({
    spentOn: () => ({ total_tokens: 0, cost_nano_usd: 0 }),
    settings: () => ({ budget_per_day: { max_total_tokens: 100 } }),
    now: () => 0,
  });
  const { reserve, committed } = createReservations({ dayBudgets, headOf: (id) => heads.get(id) ?? null });
  return { heads, committed, reserve: (id: string, tokens = 80) => reserve(headOf(id), call(tokens)) };
}

const failed: RunEvent = {
  type: "run.failed",
  output: null,
  usage: noUsage,
  error: { type: "run_error", code: "internal_error", message: "", step_index: null, retryable: false },
};
const ends: [string, RunEvent][] = [
  ["the end of its run", failed],
  ["the cancellation of its run", { type: "run.cancelled", reason: null, output: null, usage: noUsage }],
  ["the recovery of its run, whose thread died", { type: "run.recovered", attempt: 2, step_index: 0 }],
  [
    "a new attempt",
    {
      type: "step.restarted",
      step_index: 0,
      step_type: "model_call",
      attempt: 2,
      discards: 2,
      reason: null,
      delay_ms: 0,
      spent: null,
    },
  ],
  [
    "its answer",
    {
      type: "step.completed",
      step_index: 0,
      step_type: "model_call",
      status: "completed",
      latency_ms: 1,
      error: null,
      answer: null,
    },
  ],
];

test.each(ends)("the reservation of a call is released with %s", async (_, event) => {
  const { reserve, committed } = open();
  expect(await reserve("run_a")).toMatchObject({ granted: true });
  const waiting = reserve("run_b");
  committed("run_a", entries({ type: "run.resumed" }));
  expect(await Promise.race([waiting, Promise.resolve("waits")])).toBe("waits");
  committed("run_a", entries(event));
  expect(await waiting).toMatchObject({ granted: true });
});

test("a call that exceeds the day's budget is refused at once, and reserves nothing", async () => {
  const { reserve } = open();
  expect(await reserve("run_a", 101)).toMatchObject({ granted: false });
  expect(await reserve("run_b", 100)).toMatchObject({ granted: true });
});

test.each([
  ["is over", { status: "cancelled" }],
  ["is driven by somebody else", { attempt: 2 }],
] as const)("a run that %s while it waits reserves nothing any more", async (_, change) => {
  const { heads, reserve, committed } = open();
  await reserve("run_a");
  const waiting = reserve("run_b").catch((error) => error);
  heads.set("run_b", { ...headOf("run_b"), ...change });
  committed("run_a", entries(failed));
  expect(await waiting).toBeInstanceOf(AppendRefused);
  expect(await reserve("run_a", 100)).toMatchObject({ granted: true });
});
