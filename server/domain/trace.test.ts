import { expect, test } from "bun:test";
import {
  answer,
  completed,
  created,
  entriesOf,
  guardrailDecided,
  requested,
  restarted,
  started,
  text,
  toolCompleted,
  toolDone,
  turnWithCalls,
  usage,
} from "./__fixtures__/events.ts";
import type { RunEvent } from "./run-event.ts";
import { fold } from "./run-state.ts";
import { cancelledEvents } from "./terminal-events.ts";
import { traceOf } from "./trace.ts";

const steps = (...events: RunEvent[]) => traceOf(entriesOf(...events)).steps;

test("a model call shows its new messages, output, cost and latency", () => {
  const reasoning = { type: "reasoning" as const, text: "hm" };
  const said = answer([reasoning, text("Hi")]);
  const [step] = steps(created(), started(0, { input_hash: "h" }), completed(0, { answer: said }));
  expect(step).toMatchObject({
    id: "stp_0",
    type: "model_call",
    status: "completed",
    attempt: 1,
    started_at: "2026-01-01T00:00:00.010Z",
    completed_at: "2026-01-01T00:00:00.020Z",
    latency_ms: 7,
    time_to_first_token_ms: 5,
    input: { earlier_messages: 0, messages: [{ role: "user", content: "Hello" }] },
    output: { content: "Hi", tool_calls: [] },
    reasoning: "hm",
    usage: { ...usage, cost_usd: 0.5, estimated: false },
    model: "test/script",
    input_hash: "h",
    retries: [],
  });
});

test("a later model call shows only new messages, and counts the rest", () => {
  const list = steps(
    ...turnWithCalls(["a", null]),
    ...toolDone("a", 1),
    started(2, { turn_index: 1 }),
    completed(2, { answer: answer([text("Done")]) }),
  );
  expect(list.map(({ step_index, type, turn_index }) => [step_index, type, turn_index])).toEqual([
    [0, "model_call", 0],
    [1, "tool_call", 0],
    [2, "model_call", 1],
  ]);
  expect(list[2]!.input).toMatchObject({ earlier_messages: 1, messages: [{ role: "assistant" }, { role: "tool" }] });
});

test("a tool call shows its arguments and its result, or its error", () => {
  const error = { code: "http_error", message: "500" };
  const [, good, bad] = steps(
    ...turnWithCalls(["a", null], ["b", null]),
    ...toolDone("a", 1),
    ...toolDone("b", 2, { status: "failed", output: null, error }),
  );
  expect(good).toMatchObject({ input: { city: "a" }, output: { ok: true }, status: "completed", tool_call_id: "a" });
  expect(bad).toMatchObject({ output: null, error, status: "failed", model: null });
});

test.each([
  ["output", "waiting"],
  ["approval", "waiting"],
  ["reconcile", "unknown"],
] as const)("a call that needs %s is %s", (needs, status) => {
  expect(steps(...turnWithCalls(["a", needs]))[1]!.status).toBe(status);
});

test("a step that is under way is in progress", () => {
  expect(steps(created(), started(0))[0]).toMatchObject({ status: "in_progress", completed_at: null, output: null });
});

test("a call with an unknown outcome stays unknown", () => {
  const error = { code: "outcome_unknown", message: "Who knows." };
  const [, step] = steps(
    ...turnWithCalls(["a", null]),
    ...toolDone("a", 1, { status: "unknown", output: null, error }),
  );
  expect(step).toMatchObject({ status: "unknown", error });
});

test("a rejected call is rejected, and not failed", () => {
  const error = { code: "rejected", message: "No." };
  const [, step] = steps(
    ...turnWithCalls(["a", "approval"]),
    ...toolDone("a", 1, { status: "rejected", output: null, error }),
  );
  expect(step).toMatchObject({ status: "rejected", error });
});

test("every discarded attempt has its reason and time", () => {
  const reason = { code: "model_error", message: "503" };
  const [step] = steps(
    created(),
    started(0),
    restarted(0, 2, { reason, delay_ms: 500 }),
    restarted(0, 3, { attempt: 3 }),
    completed(0, { answer: answer([text("Hi")]) }),
  );
  expect(step).toMatchObject({
    attempt: 3,
    status: "completed",
    retries: [
      { attempt: 1, at: "2026-01-01T00:00:00.020Z", reason, delay_ms: 500 },
      { attempt: 2, reason: { code: "process_restarted" } },
    ],
  });
});

test("a failed model call shows its error and partial output", () => {
  const error = { code: "model_error", message: "No.", retryable: false };
  const [step] = steps(created(), started(0), completed(0, { status: "failed", error, answer: answer([text("Ha")]) }));
  expect(step).toMatchObject({ status: "failed", error, output: { content: "Ha" } });
});

test("a run that ended leaves no step open or waiting", () => {
  for (const events of [[created(), started(0)], turnWithCalls(["a", null], ["b", "output"], ["c", "approval"])]) {
    const ending = cancelledEvents(fold(entriesOf(...events)), null, 0, null);
    const list = steps(...events, ...ending);
    for (const step of list.slice(1)) expect(step.status).toBe("cancelled");
    for (const step of list) expect([step.status, step.completed_at === null]).not.toContain("in_progress");
  }
});

test("raw entries are listed with their step, and only if requested", () => {
  const events = [...turnWithCalls(["a", null]), requested("a", 1, "reconcile"), toolCompleted("a", 1)];
  const list = traceOf(entriesOf(...events), { raw: true }).steps;
  expect(list[0]!.raw!.map(({ seq }) => seq)).toEqual([2, 3]);
  expect(list[1]!.raw!.map(({ event }) => event.type)).toEqual(["step.started", "tool.completed"]);
  expect(steps(...events)[1]).not.toHaveProperty("raw");
});

test("the trace's last fold is the run itself", () => {
  const entries = entriesOf(...turnWithCalls(["a", null]), ...toolDone("a", 1));
  expect(traceOf(entries).state).toEqual(fold(entries));
});

test("copied parts are marked: steps before a fork, and single results", () => {
  const fork = created({ forked_from: { run_id: "run_b", step_index: 0 }, recorded_to: 3 });
  const [before, taken, after] = steps(
    fork,
    ...turnWithCalls(["a", null], ["b", null]).slice(1, 4),
    ...turnWithCalls(["a", null], ["b", null]).slice(4),
    ...toolDone("a", 1, { recorded: true }),
    ...toolDone("b", 2),
  );
  expect([before!.replayed, taken!.replayed, after!.replayed]).toEqual([true, true, false]);
});

test("processes that went on with the run are listed, and shift no step", () => {
  const { recoveries, steps } = traceOf(
    entriesOf(
      created(),
      started(0),
      { type: "run.recovered", attempt: 2, step_index: 0 },
      restarted(0, 2),
      completed(0, { answer: answer([text("Hi")]) }),
    ),
  );
  expect(recoveries).toEqual([{ attempt: 2, at: "2026-01-01T00:00:00.020Z", step_index: 0 }]);
  expect(steps.map(({ step_index, type }) => [step_index, type])).toEqual([[0, "model_call"]]);
});

test("steps and abandoned attempts add up to the cost of the run", () => {
  const spent = { usage, cost_usd: 0.25, estimated: true };
  const trace = traceOf(
    entriesOf(created(), started(0), restarted(0, 2, { spent }), completed(0, { answer: answer([text("Hi")]) })),
  );
  const [step] = trace.steps;
  expect(step!.retries[0]!.usage).toEqual({ ...usage, cost_usd: 0.25, estimated: true });
  expect(trace.state.usage.cost_usd).toBe(step!.usage!.cost_usd! + step!.retries[0]!.usage!.cost_usd!);
});

test("a guardrail's finding is a separate step, with its judge's usage", () => {
  const spent = { usage, cost_usd: 0.25, estimated: false };
  const found = { guardrail: { index: 1, type: "llm_judge", on: "input" }, latency_ms: 4 } as const;
  const [passed, blocked] = steps(
    created(),
    guardrailDecided(0, { ...found, verdict: "passed", spent }),
    guardrailDecided(1, { verdict: "blocked", message: "It matches." }),
  );
  expect(passed).toMatchObject({
    type: "guardrail",
    name: "llm_judge",
    status: "completed",
    input: found.guardrail,
    error: null,
    started_at: "2026-01-01T00:00:00.006Z",
    completed_at: "2026-01-01T00:00:00.010Z",
    latency_ms: 4,
    usage: { ...usage, cost_usd: 0.25, estimated: false },
    model: "test/script",
  });
  const error = { code: "guardrail_blocked", message: "It matches." };
  expect(blocked).toMatchObject({ status: "failed", error, usage: null, model: null });
});

test("after a compaction a model call shows how much of the conversation was left out", () => {
  const [, , call] = steps(
    ...turnWithCalls().slice(0, 3),
    started(1, { step_type: "compaction", name: "compact" }),
    {
      type: "context.compacted",
      step_index: 1,
      strategy: "compact",
      summary: "Said hello.",
      left_out: 1,
      tokens_before: 100,
      tokens_after: 10,
      latency_ms: 3,
      spent: null,
    },
    completed(1, { step_type: "compaction" }),
    started(2, { turn_index: 1 }),
  );
  expect(call!.input).toMatchObject({ earlier_messages: 1, left_out: 1, summarized: true });
});
