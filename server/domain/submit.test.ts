import { describe, expect, test } from "bun:test";
import { begin, entriesOf, turnWithCalls } from "./__fixtures__/events.ts";
import { AppError } from "./errors.ts";
import { requiredAction } from "./required-action.ts";
import type { Needs, RunEvent } from "./run-event.ts";
import { applyAll, fold, type RunState } from "./run-state.ts";
import { submitEvents, type ToolAnswer } from "./submit.ts";

const noFaults = () => [];
const then = (state: RunState, events: readonly RunEvent[]): RunState => applyAll(state, events, begin + 1000);
const answered = (state: RunState, ...answers: ToolAnswer[]) =>
  then(state, submitEvents(state, answers, noFaults, begin + 1000));

/** A run that waits for these calls. */
function waiting(...calls: [id: string, needs: Needs, type?: string][]): RunState {
  const asked = calls.map(([id, needs, type]): [string, Needs, object] => [id, needs, type ? { type } : {}]);
  const state = fold(entriesOf(...turnWithCalls(...asked)));
  return then(state, [{ type: "run.requires_action", required_action: requiredAction(state.calls, begin + 60_000) }]);
}

function refusal(state: RunState, answers: ToolAnswer[], check: () => string[] = noFaults) {
  try {
    submitEvents(state, answers, check, begin);
  } catch (error) {
    if (error instanceof AppError) return [error.code, error.param];
    throw error;
  }
  return "taken";
}

const out = (id: string, output: unknown = { ok: 1 }): ToolAnswer => ({ tool_call_id: id, output });
const say = (id: string, decision: "approve" | "reject", more: Partial<ToolAnswer> = {}): ToolAnswer => ({
  tool_call_id: id,
  decision,
  ...more,
});

test("the last answer resumes the run", () => {
  const state = answered(waiting(["a", "output"]), out("a", { temperature: 3 }));
  expect(state).toMatchObject({
    status: "in_progress",
    required_action: null,
    calls: [{ status: "completed", output: { temperature: 3 }, submitted: true, latency_ms: 970 }],
  });
});

test("a partial answer leaves the rest required, with the same deadline", () => {
  const before = waiting(["a", "output"], ["b", "output"], ["c", "output"]);
  const state = answered(before, out("b"));
  expect(state.status).toBe("requires_action");
  const { tool_calls } = state.required_action!.submit_tool_outputs;
  expect(tool_calls.map(({ id }) => id)).toEqual(["a", "c"]);
  expect(tool_calls[0]!.expires_at).toBe(before.required_action!.submit_tool_outputs.tool_calls[0]!.expires_at);
  expect(answered(state, out("c"), out("a")).status).toBe("in_progress");
});

describe("the same answer once more makes no events", () => {
  const edited = { city: "Rome" };
  const rest: [string, Needs] = ["z", "output"];
  const table: [string, RunState, ToolAnswer][] = [
    ["an output", waiting(["a", "output"], rest), out("a", { x: [1, { y: null }] })],
    ["an output of null", waiting(["a", "output"], rest), out("a", null)],
    ["an output whose run went on", waiting(["a", "output"]), out("a")],
    ["an error", waiting(["a", "output"], rest), { ...out("a", "no such city"), is_error: true }],
    ["an error that is no text", waiting(["a", "output"], rest), { ...out("a", { code: 1 }), is_error: true }],
    ["an approval", waiting(["a", "approval"], rest), say("a", "approve")],
    ["an approval of a client tool", waiting(["a", "approval", "client"]), say("a", "approve")],
    ["an approval with edited arguments", waiting(["a", "approval"], rest), say("a", "approve", { arguments: edited })],
    ["a rejection", waiting(["a", "approval"], rest), say("a", "reject", { reason: "too dear" })],
    ["what happened after all", waiting(["a", "reconcile"], rest), out("a", "done")],
    ["what did not happen", waiting(["a", "reconcile"], rest), say("a", "reject")],
  ];
  test.each(table)("%s", (_, state, answer) => {
    const after = answered(state, answer);
    expect(after.seq).toBeGreaterThan(state.seq);
    expect(submitEvents(after, [structuredClone(answer)], noFaults, begin)).toEqual([]);
  });
});

test("a repeated answer may accompany a new one", () => {
  const half = answered(waiting(["a", "output"], ["b", "output"]), out("a"));
  expect(answered(half, out("a"), out("b")).status).toBe("in_progress");
});

describe("refused answers", () => {
  const done = answered(waiting(["a", "output"], ["b", "output"]), out("a", 1));
  const over = answered(waiting(["a", "output"]), out("a", 1));
  const approved = answered(waiting(["a", "approval", "client"]), say("a", "approve"));
  const running = fold(entriesOf(...turnWithCalls(["a", null])));
  const resolved = ["tool_call_already_resolved", "tool_outputs[0].tool_call_id"];
  const bad = (field: string) => ["validation_failed", `tool_outputs[0].${field}`];
  const table: [string, RunState, ToolAnswer[], unknown][] = [
    ["another output", done, [out("a", 2)], resolved],
    ["another output after the run went on", over, [out("a", 2)], resolved],
    ["an error where an output was given", done, [{ ...out("a", 1), is_error: true }], resolved],
    ["a rejection of what was approved", approved, [say("a", "reject")], resolved],
    ["other edited arguments", approved, [say("a", "approve", { arguments: { x: 1 } })], resolved],
    [
      "a call that is not of this run",
      done,
      [out("b"), out("x")],
      ["tool_call_not_found", "tool_outputs[1].tool_call_id"],
    ],
    ["a run that works and asks for nothing", running, [out("a")], ["run_not_awaiting_action", null]],
    ["a call that is named twice", done, [out("b"), out("b")], ["validation_failed", "tool_outputs[1].tool_call_id"]],
    ["a decision for an output", waiting(["a", "output"]), [say("a", "approve")], bad("decision")],
    ["nothing for an output", waiting(["a", "output"]), [{ tool_call_id: "a" }], bad("output")],
    ["an output for an approval", waiting(["a", "approval"]), [out("a")], bad("decision")],
    ["nothing for an approval", waiting(["a", "approval"]), [{ tool_call_id: "a" }], bad("decision")],
    ["nothing for an unknown outcome", waiting(["a", "reconcile"]), [{ tool_call_id: "a" }], bad("output")],
    ["an output and a decision", waiting(["a", "reconcile"]), [{ ...say("a", "approve"), output: 1 }], bad("decision")],
    [
      "arguments with a rejection",
      waiting(["a", "approval"]),
      [say("a", "reject", { arguments: {} })],
      bad("arguments"),
    ],
    ["arguments with an output", waiting(["a", "output"]), [{ ...out("a"), arguments: {} }], bad("arguments")],
    [
      "an output whose bytes are too many, though its characters are not",
      waiting(["a", "output"]),
      [out("a", "é".repeat(200_000))],
      ["payload_too_large", "tool_outputs[0].output"],
    ],
  ];
  test.each(table)("%s", (_, state, answers, expected) => {
    expect(refusal(state, answers)).toEqual(expected as string[]);
  });
});

test("a cancelled run takes no more outputs", () => {
  const state = waiting(["a", "output"]);
  const cancelled = then(state, [{ type: "run.cancelled", reason: null, output: null, usage: state.usage }]);
  expect(refusal(cancelled, [out("a")])).toEqual(["run_not_awaiting_action", null]);
});

test("an approval lets the call run, with the arguments that a person gave it", () => {
  const plain = answered(waiting(["a", "approval"]), say("a", "approve"));
  expect(plain.calls).toMatchObject([{ status: "running", needs: null, arguments: { city: "a" } }]);
  const edited = answered(waiting(["a", "approval"]), say("a", "approve", { arguments: { city: "Rome" } }));
  expect(edited).toMatchObject({ status: "in_progress", calls: [{ arguments: { city: "Rome" } }] });
});

test("edited arguments are judged again", () => {
  const state = waiting(["a", "approval"]);
  const answers = [say("a", "approve", { arguments: { city: 1 } })];
  expect(refusal(state, answers, () => ["city: must be string"])).toEqual([
    "validation_failed",
    "tool_outputs[0].arguments",
  ]);
});

test("an approved client tool still needs its output", () => {
  const state = answered(waiting(["a", "approval", "client"]), say("a", "approve"));
  expect(state.status).toBe("requires_action");
  expect(state.required_action!.submit_tool_outputs.tool_calls).toMatchObject([{ id: "a", needs: "output" }]);
  expect(answered(state, out("a")).status).toBe("in_progress");
});

test("a rejected call is an error that the model reads", () => {
  const state = answered(waiting(["a", "approval"]), say("a", "reject", { reason: "too dear" }));
  expect(state).toMatchObject({
    status: "in_progress",
    calls: [
      { status: "rejected", error: { code: "rejected", message: "A person rejected this call. Reason: too dear" } },
    ],
  });
});

test("an unknown outcome is resolved by an output, by running the call again, or by stating that it did not happen", () => {
  const state = waiting(["a", "reconcile"]);
  expect(answered(state, out("a", "sent")).calls).toMatchObject([{ status: "completed", output: "sent" }]);
  const again = submitEvents(state, [say("a", "approve")], noFaults, begin);
  expect(again.map(({ type }) => type)).toEqual(["tool.decided", "step.restarted", "run.resumed"]);
  expect(then(state, again)).toMatchObject({ calls: [{ status: "running", needs: null }], open: [{ attempt: 2 }] });
  expect(answered(state, say("a", "reject")).calls).toMatchObject([
    { status: "rejected", error: { code: "not_executed" } },
  ]);
});

test("answers are taken all or not at all", () => {
  const state = waiting(["a", "output"], ["b", "approval"]);
  expect(refusal(state, [out("a"), out("b")])).toEqual(["validation_failed", "tool_outputs[1].decision"]);
  expect(answered(state, out("a"), say("b", "approve")).status).toBe("in_progress");
});
