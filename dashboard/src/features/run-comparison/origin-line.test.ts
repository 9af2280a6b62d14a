import { expect, test } from "bun:test";
import type { DiffStep as StepPair } from "../../../../server/domain/api-types/trace.ts";
import { originLine } from "./origin-line.ts";

const run = (id: string, more: object = {}) => ({
  id,
  model: "test/echo",
  input: "Go",
  agent_version: 1,
  forked_from: null,
  replay_of: null,
  ...more,
});
const pairs = (...changes: StepPair["change"][]) =>
  changes.map((change, index) => ({
    index,
    a_step_index: index,
    b_step_index: index,
    type: "tool_call" as const,
    name: "look_up",
    change,
    differences: [],
    latency_ms: { a: 1, b: 1 },
    cost_usd: { a: null, b: null },
  }));

test("a fork that edited an output starts before that step and says so", () => {
  const fork = run("run_b", { forked_from: { run_id: "run_a", step_index: 1 } });
  expect(originLine(run("run_a"), fork, pairs("equal", "changed"))).toEqual({
    before: 1,
    text: "B was forked here, at step 1: a different output of look_up",
    again: { runId: "run_a", step: 1 },
  });
});

test("a fork that changed what follows starts after the step, on either side", () => {
  const fork = run("run_b", { model: "test/script", forked_from: { run_id: "run_a", step_index: 0 } });
  expect(originLine(fork, run("run_a"), pairs("equal", "changed"))).toEqual({
    before: 1,
    text: "A was forked here, after step 0: test/script instead of test/echo",
    again: { runId: "run_a", step: 0 },
  });
});

test("unrelated runs, and a step that is not loaded yet, have no origin line", () => {
  expect(originLine(run("run_a"), run("run_b"), pairs("equal"))).toBeNull();
  const late = run("run_b", { forked_from: { run_id: "run_a", step_index: 7 } });
  expect(originLine(run("run_a"), late, pairs("equal"))).toBeNull();
});
