import { expect, test } from "bun:test";
import {
  answer,
  asks,
  begin,
  completed,
  created,
  entriesOf,
  requested,
  restarted,
  started,
  stateOf,
  text,
  toolCompleted,
  toolDone,
  turnWithCalls,
  usage,
} from "./__fixtures__/events.ts";
import { requiredAction } from "./required-action.ts";
import type { RunEvent } from "./run-event.ts";
import { apply, fold, initialState, isResolved, pendingCalls } from "./run-state.ts";
import { noUsage } from "./usage.ts";

const ends: RunEvent[] = [
  { type: "run.completed", output: "x", output_json: null, usage: noUsage },
  {
    type: "run.failed",
    error: { type: "run_error", code: "model_error", message: "", step_index: null, retryable: false },
    output: "x",
    usage: noUsage,
  },
  { type: "run.cancelled", reason: "enough", output: "x", usage: noUsage },
];

test("a gap, a repetition and a journal that does not begin at 1 are refused", () => {
  const [first, second, third] = entriesOf(created(), started(0), completed(0));
  expect(() => fold([first!, third!])).toThrow("Entry 3 does not follow entry 1.");
  expect(() => fold([first!, second!, second!])).toThrow("Entry 2 does not follow entry 2.");
  expect(() => fold([second!])).toThrow("Entry 2 does not follow entry 0.");
});

test.each(ends.map((end) => [end.type, end] as const))("nothing happens after %s", (_, end) => {
  for (const late of [...ends, started(0), { type: "run.resumed" } as const])
    expect(() => stateOf(created(), end, late)).toThrow(`${late.type} after the run was`);
});

test("an end closes open steps and has the run's result", () => {
  const [complete, failed, cancelled] = ends.map((end) => stateOf(created(), started(0), end));
  expect(complete).toMatchObject({ status: "completed", output: "x", open: [], ended_at: begin + 20 });
  expect(failed).toMatchObject({ status: "failed", output: "x", error: { code: "model_error" } });
  expect(cancelled).toMatchObject({ status: "cancelled", output: "x", cancel_reason: "enough" });
});

test("folding does not change earlier states, and may continue from any of them", () => {
  const entries = entriesOf(...turnWithCalls(["a", null]), ...toolDone("a", 1));
  const whole = fold(entries);
  for (let cut = 0; cut <= entries.length; cut++) {
    const before = cut === 0 ? initialState : fold(entries.slice(0, cut));
    const copy = structuredClone(before);
    expect(fold(entries.slice(cut), before)).toEqual(whole);
    expect(before).toEqual(copy);
  }
  expect(initialState.calls).toEqual([]);
});

test("a conversation grows by messages, calls and results", () => {
  const state = stateOf(...turnWithCalls(["a", null], ["b", "output"]), ...toolDone("a", 1));
  expect(state.messages.map(({ role, id }) => [role, id])).toEqual([
    ["user", "msg_in"],
    ["assistant", "msg_answer"],
    ["tool", "msg_a"],
  ]);
  expect(state.calls).toMatchObject([
    { id: "a", status: "completed", output: { ok: true }, attempts: 1, latency_ms: 9, needs: null },
    { id: "b", status: "awaiting_output", output: null, completed_at: null, needs: "output" },
  ]);
  expect(pendingCalls(state).map(({ id }) => id)).toEqual(["b"]);
  expect(state).toMatchObject({ steps: 3, turns: 1, usage: { model_calls: 1, tool_calls: 2 } });
  expect(state.open.map(({ step_index }) => step_index)).toEqual([2]);
});

test("a call's status shows what it waits for", () => {
  const state = stateOf(...turnWithCalls(["a", null], ["b", "output"], ["c", "approval"]));
  expect(state.calls.map(({ status }) => status)).toEqual(["running", "awaiting_output", "awaiting_approval"]);
  expect(state.calls.map(isResolved)).toEqual([false, false, false]);
});

test("a call whose outcome is unknown keeps its place and its arguments, and has to be approved again", () => {
  const decided: RunEvent = {
    type: "tool.decided",
    tool_call_id: "a",
    decision: "approve",
    reason: null,
    arguments: { city: "edited" },
    needs: null,
  };
  const before = stateOf(...turnWithCalls(["a", "approval"]), decided);
  expect(before.calls).toMatchObject([{ approved: true, status: "running", arguments: { city: "edited" } }]);
  const again = requested("a", 1, "reconcile", { arguments: { city: "edited" } });
  const asked = stateOf(...turnWithCalls(["a", "approval"]), decided, again);
  expect(asked.calls).toMatchObject([
    { id: "a", status: "unknown", needs: "reconcile", approved: false, arguments: { city: "edited" } },
  ]);
  expect(asked.calls).toHaveLength(1);
  expect(asked.steps).toBe(2);
});

test("a person's decision on a call is a new intent: earlier open steps do not count as interrupted", () => {
  const recovered: RunEvent = { type: "run.recovered", attempt: 2, step_index: 1 };
  const word: RunEvent = {
    type: "tool.decided",
    tool_call_id: "a",
    decision: "approve",
    reason: null,
    arguments: null,
    needs: null,
  };
  const state = stateOf(...turnWithCalls(["a", "approval"], ["b", "approval"]), recovered, word);
  expect(state.open.map(({ tool_call_id, run_attempt }) => [tool_call_id, run_attempt])).toEqual([
    ["a", 2],
    ["b", 1],
  ]);
});

test("text of an interrupted model call is kept, and an empty one adds nothing", () => {
  const cut = { status: "cancelled" as const };
  const said = stateOf(created(), started(0), completed(0, { ...cut, answer: answer([text("Half")]) }));
  expect(said.messages.at(-1)).toMatchObject({ role: "assistant", parts: [{ text: "Half" }] });
  const silent = stateOf(created(), started(0), completed(0, { ...cut, answer: answer([]) }));
  expect(silent.messages).toHaveLength(1);
  expect(silent.usage.model_calls).toBe(1);
});

test("a restart moves the anchor, belongs to the attempt that made it, and includes the cost of the discarded attempt", () => {
  const spent = { usage, cost_usd: 0.25, estimated: true };
  const state = stateOf(
    created(),
    started(0),
    { type: "run.recovered", attempt: 2, step_index: 0 },
    {
      ...restarted(0, 2, { spent }),
    },
  );
  expect(state.open).toMatchObject([{ step_index: 0, anchor: 4, attempt: 2, run_attempt: 2, started_at: begin + 10 }]);
  expect(state.usage).toMatchObject({ model_calls: 1, output_tokens: 4, cost_usd: 0.25, estimated: true });
  expect(state.turns).toBe(1);
});

test("a partial answer of the client leaves the rest to wait for", () => {
  const events = turnWithCalls(["a", "output"], ["b", "output"]);
  const { calls } = stateOf(...events);
  const waits = (ids: string[]): RunEvent => ({
    type: "run.requires_action",
    required_action: requiredAction(
      calls.filter(({ id }) => ids.includes(id)),
      begin,
    ),
  });
  const waiting = stateOf(...events, waits(["a", "b"]), ...toolDone("a", 1, { submitted: true }), waits(["b"]));
  expect(waiting).toMatchObject({ status: "requires_action", calls: [{ submitted: true }, { needs: "output" }] });
  expect(waiting.required_action!.submit_tool_outputs.tool_calls.map(({ id }) => id)).toEqual(["b"]);
  expect(waiting.waiting_since).toBe(stateOf(...events, waits(["a", "b"])).updated_at);
  const resumed = apply(waiting, { seq: waiting.seq + 1, at: begin, event: { type: "run.resumed" } });
  expect(resumed).toMatchObject({ status: "in_progress", required_action: null, waiting_since: null });
});

test("an output of null is an output, and an error is none", () => {
  const state = stateOf(
    ...turnWithCalls(["a", null], ["b", null]),
    toolCompleted("a", 1, { output: null }),
    toolCompleted("b", 2, { status: "failed", output: null, error: { code: "http_error", message: "500" } }),
  );
  expect(state.calls).toMatchObject([
    { status: "completed", output: null, error: null },
    { status: "failed", error: { code: "http_error" } },
  ]);
  expect(pendingCalls(state)).toEqual([]);
});

test("an answer asks in the order in which it wrote", () => {
  const state = stateOf(created(), started(0), completed(0, { answer: answer([text("Well"), asks("a"), asks("b")]) }));
  expect(state.messages.at(-1)).toMatchObject({ parts: [{ type: "text" }, { id: "a" }, { id: "b" }] });
});

test("a queued run has a place and no start; when it starts it is like any other, and its end takes the place away", () => {
  const queued: RunEvent[] = [created({ queued: true }), { type: "run.queued", queue_position: 3 }];
  expect(stateOf(...queued)).toMatchObject({
    status: "queued",
    queue_position: 3,
    created_at: begin,
    started_at: null,
  });
  expect(stateOf(...queued, { type: "run.started" })).toMatchObject({
    status: "in_progress",
    queue_position: null,
    created_at: begin,
    started_at: begin + 20,
  });
  for (const end of ends) expect(stateOf(...queued, end)).toMatchObject({ queue_position: null, started_at: null });
  expect(stateOf(created())).toMatchObject({ status: "in_progress", queue_position: null, started_at: begin });
});
