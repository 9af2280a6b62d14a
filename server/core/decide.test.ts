import { describe, expect, test } from "bun:test";
import {
  answer,
  completed,
  created,
  restarted,
  started,
  stateOf,
  text,
  toolDone,
  turnWithCalls,
} from "./__fixtures__/events.ts";
import { decide, partialOutput, textOf } from "./decide.ts";
import { requiredAction } from "./frames.ts";
import type { RunEvent } from "./run-event.ts";
import { noUsage } from "./usage.ts";

const recovered = (attempt: number): RunEvent => ({ type: "run.recovered", attempt, step_index: 0 });
const waits: RunEvent = { type: "run.requires_action", required_action: requiredAction([], 0) };
const turn = (index: number): RunEvent[] => [
  started(index, { turn_index: index }),
  completed(index, { answer: answer([], { finish: "tool_calls" }), status: "failed" }),
];

describe("what comes next", () => {
  const table: [string, RunEvent[], object][] = [
    ["a new run asks its model", [created()], { do: "call_model" }],
    ["a model call that began is taken up again", [created(), started(0)], { do: "call_model" }],
    [
      "an answer without calls ends the run",
      [created(), started(0), completed(0, { answer: answer([text("Hi")]) })],
      { do: "complete", output: "Hi" },
    ],
    [
      "an answer without a word ends the run with an empty text",
      [created(), started(0), completed(0, { answer: answer([]) })],
      { do: "complete", output: "" },
    ],
    ["a run that waits is left alone", [...turnWithCalls(["a", "output"]), waits], { do: "stop" }],
    [
      "a run that is completed is left alone",
      [created(), { type: "run.completed", output: null, output_json: null, usage: noUsage }],
      { do: "stop" },
    ],
    [
      "a run that is cancelled is left alone",
      [created(), { type: "run.cancelled", reason: null, output: null, usage: noUsage }],
      { do: "stop" },
    ],
    [
      "two deaths are forgiven",
      [created(), started(0), recovered(2), restarted(0, 2), recovered(3)],
      { do: "call_model" },
    ],
    [
      "the third death without progress is the last",
      [created(), started(0), recovered(2), restarted(0, 2), recovered(3), recovered(4)],
      { do: "fail", error: { code: "crash_loop", step_index: 0 } },
    ],
    [
      "a step that was completed in between makes the count begin anew",
      [created(), started(0), recovered(2), recovered(3), ...turnWithCalls(["a", null]).slice(2), recovered(4)],
      { do: "run_tools" },
    ],
    [
      "the final error of a model call fails the run with it",
      [
        created(),
        started(0),
        completed(0, { status: "failed", error: { code: "model_error", message: "No.", retryable: true } }),
      ],
      { do: "fail", error: { code: "model_error", message: "No.", retryable: true, step_index: 0, type: "run_error" } },
    ],
    [
      "server tools run",
      turnWithCalls(["a", null], ["b", null]),
      { do: "run_tools", calls: [{ id: "a" }, { id: "b" }] },
    ],
    [
      "server tools run before anybody is asked for the rest",
      turnWithCalls(["a", "output"], ["b", null]),
      { do: "run_tools", calls: [{ id: "b" }] },
    ],
    [
      "what only a client can answer makes the run wait",
      turnWithCalls(["a", "output"], ["b", "approval"]),
      { do: "pause", calls: [{ id: "a" }, { id: "b" }] },
    ],
    ["results go to the model", [...turnWithCalls(["a", null]), ...toolDone("a", 1)], { do: "call_model" }],
    [
      "a run out of turns fails after its tools have run",
      [...turnWithCalls(["a", null]), ...toolDone("a", 1), ...turn(2), ...turn(3)],
      { do: "fail", error: { code: "max_turns_exceeded", step_index: 3, retryable: false } },
    ],
    [
      "as many calls as the budget says run",
      [created({ budget: { max_tool_calls: 1 } }), ...turnWithCalls(["a", null]).slice(1)],
      { do: "run_tools" },
    ],
    [
      "one call more than the budget says fails the run, before any of them runs or is shown",
      [created({ budget: { max_tool_calls: 1 } }), ...turnWithCalls(["a", null], ["b", "output"]).slice(1)],
      { do: "fail", error: { code: "budget_exceeded", retryable: false } },
    ],
    [
      "calls of the last turn still run",
      [created({ max_turns: 1 }), ...turnWithCalls(["a", null]).slice(1)],
      { do: "run_tools" },
    ],
  ];
  test.each(table)("%s", (_, events, command) => {
    expect(decide(stateOf(...events))).toMatchObject(command);
  });
});

test("a decision needs nothing but the state: asked twice it is the same, and the state stays as it was", () => {
  const state = stateOf(...turnWithCalls(["a", null]));
  const before = structuredClone(state);
  expect(decide(state)).toEqual(decide(state));
  expect(state).toEqual(before);
});

test("the user reads the text parts of an answer, and no reasoning", () => {
  expect(textOf([text("a"), { type: "reasoning", text: "hm" }, text("b")])).toBe("ab");
  expect(textOf([])).toBe("");
});

test("a run that ends early keeps the text of its newest answer, and null when there was none", () => {
  expect(partialOutput(stateOf(created()))).toBeNull();
  expect(partialOutput(stateOf(...turnWithCalls(["a", null])))).toBeNull();
  const said = stateOf(created(), started(0), completed(0, { answer: answer([text("So far")]), status: "cancelled" }));
  expect(partialOutput(said)).toBe("So far");
});
