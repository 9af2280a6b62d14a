import { describe, expect, test } from "bun:test";
import {
  answer,
  begin,
  completed,
  created,
  restarted,
  started,
  stateOf,
  text,
  toolDone,
  turnWithCalls,
} from "./__fixtures__/events.ts";
import type { AgentSnapshot, Guardrail } from "./agent-snapshot.ts";
import { decide, withFollowUp } from "./decide.ts";
import { requiredAction } from "./required-action.ts";
import type { RunEvent } from "./run-event.ts";
import { partialOutput } from "./terminal-events.ts";
import { textOf } from "./text-of.ts";
import { noUsage } from "./usage.ts";

const recovered = (attempt: number): RunEvent => ({ type: "run.recovered", attempt, step_index: 0 });
const waits: RunEvent = { type: "run.requires_action", required_action: requiredAction([], 0) };
const turn = (index: number): RunEvent[] => [
  started(index, { turn_index: index }),
  completed(index, { answer: answer([], { finish: "tool_calls" }), status: "failed" }),
];

const now = begin + 1_000_000;
const agent: AgentSnapshot = {
  id: "agt_1",
  version: 1,
  name: "Ada",
  instructions: "Be brief.",
  model: "test/script",
  settings: {},
  max_turns: 3,
  tools: [],
  output_schema: null,
};
const judge: Guardrail = { type: "llm_judge", on: ["input"], action: "block", config: { rule: "No insults." } };
const modelError = { code: "model_error", message: "No.", retryable: true } as const;
const compacting = started(0, { step_type: "compaction" });
const records = (event: object) => ({ do: "record", events: [event] });
const begins = (step_type: string) => records({ type: "step.started", step_type });
const fails = (error: object) => ({
  do: "record",
  events: expect.arrayContaining([
    expect.objectContaining({ type: "run.failed", error: expect.objectContaining(error) }),
  ]),
});

describe("the next action", () => {
  const table: [string, RunEvent[], object, Partial<AgentSnapshot>?][] = [
    ["a new run begins to ask its model", [created()], begins("model_call")],
    [
      "a run whose agent lacks a tool fails before its model is asked",
      [created()],
      fails({ code: "tool_error", retryable: true }),
      { unavailable: [{ tool: "crm", message: "It is away." }] },
    ],
    [
      "a judge of the input is asked before the model is",
      [created()],
      { do: "judge", text: { index: 0, on: "input", tool_call_id: null } },
      { guardrails: [judge] },
    ],
    [
      "what is to be fetched is fetched first",
      [created({ prepare: ["documents"] })],
      { do: "prepare", what: "documents" },
    ],
    ["a search of the memory begins with a step", [created({ prepare: ["retrieval"] })], begins("retrieval")],
    [
      "a summary that could not be had fails the run",
      [created(), compacting, completed(0, { step_type: "compaction", status: "failed", error: modelError })],
      fails({ ...modelError, step_index: 0 }),
    ],
    ["a model call that began is taken up again", [created(), started(0)], { do: "call_model" }],
    [
      "an answer without calls ends the run",
      [created(), started(0), completed(0, { answer: answer([text("Hi")]) })],
      records({ type: "run.completed", output: "Hi" }),
    ],
    [
      "an answer without a word ends the run with an empty text",
      [created(), started(0), completed(0, { answer: answer([]) })],
      records({ type: "run.completed", output: "" }),
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
      fails({ code: "crash_loop", step_index: 0 }),
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
      fails({ code: "model_error", message: "No.", retryable: true, step_index: 0, type: "run_error" }),
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
      records({
        type: "run.requires_action",
        required_action: { submit_tool_outputs: { tool_calls: [{ id: "a" }, { id: "b" }] } },
      }),
    ],
    ["results go to the model", [...turnWithCalls(["a", null]), ...toolDone("a", 1)], begins("model_call")],
    [
      "a run out of turns fails after its tools have run",
      [...turnWithCalls(["a", null]), ...toolDone("a", 1), ...turn(2), ...turn(3)],
      fails({ code: "max_turns_exceeded", step_index: 3, retryable: false }),
    ],
    [
      "as many calls as the budget says run",
      [created({ budget: { max_tool_calls: 1 } }), ...turnWithCalls(["a", null]).slice(1)],
      { do: "run_tools" },
    ],
    [
      "one call more than the budget says fails the run, before any of them runs or is shown",
      [created({ budget: { max_tool_calls: 1 } }), ...turnWithCalls(["a", null], ["b", "output"]).slice(1)],
      fails({ code: "budget_exceeded", retryable: false }),
    ],
    [
      "calls of the last turn still run",
      [created({ max_turns: 1 }), ...turnWithCalls(["a", null]).slice(1)],
      { do: "run_tools" },
    ],
  ];
  const cases = table.map(([title, events, command, more = {}]) => [title, events, command, more] as const);

  test.each(cases)("%s", (_, events, command, more) => {
    expect(decide(stateOf(...events), { ...agent, ...more }, now)).toMatchObject(command);
  });

  test.each(cases)("withFollowUp appends the events of the decision: %s", (_, events, __, more) => {
    const [before, given] = [stateOf(...events), { ...agent, ...more }];
    const next = decide(before, given, now);
    const followed = withFollowUp(before, [], given, now);
    expect(followed.map(({ type }) => type)).toEqual(next.do === "record" ? next.events.map(({ type }) => type) : []);
  });
});

test("a decision is a pure function: it returns the same twice, and does not change the state", () => {
  const state = stateOf(...turnWithCalls(["a", null]));
  const before = structuredClone(state);
  expect(decide(state, agent, now)).toEqual(decide(state, agent, now));
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
