import { describe, expect, test } from "bun:test";
import { hashJson } from "../lib/hash.ts";
import { corpus } from "../testing/corpus.ts";
import { compareFork, forkOf, stepsOf } from "../testing/fork-of.ts";
import { CannotFork, type PrefixEdits, prefixOf } from "./fork.ts";
import type { JournalEntry, RunEvent } from "./run-event.ts";
import { fold } from "./run-state.ts";

const cannot = (entries: JournalEntry[], step: number, edits?: PrefixEdits): CannotFork | null => {
  try {
    prefixOf(entries, step, edits);
    return null;
  } catch (error) {
    if (error instanceof CannotFork) return error;
    throw error;
  }
};

test("a fork of an old journal has the state of that step, and the same prompt", () => {
  let asked = 0;
  let count = 0;
  for (const { entries, agent } of corpus)
    for (const step of stepsOf(entries)) {
      const compared = cannot(entries, step) ? null : compareFork(entries, step, agent);
      if (!compared) continue;
      count++;
      expect(compared.fork).toEqual(compared.record);
      expect(compared.requests[0]).toEqual(compared.requests[1]);
      if (compared.input_hash === null) continue;
      asked++;
      expect(hashJson(compared.requests[0])).toBe(compared.input_hash);
    }
  expect(count).toBeGreaterThan(100);
  expect(asked).toBeGreaterThan(40);
});

test("an old journal from the start has only its input and the data fetched for it", () => {
  for (const { entries } of corpus) {
    const state = fold(forkOf(entries, -1));
    expect(state.messages.map(({ role }) => role)).toEqual(["user"]);
    expect(state).toMatchObject({ turns: 0, calls: [], status: "in_progress" });
  }
});

/** Step 0 requests two calls, 1 and 2, which end in the other order; step 3 is the last answer. */
function twoCalls(second: "completed" | "cancelled" | "running" = "completed"): JournalEntry[] {
  const parts = ["a", "b"].map((id) => ({ type: "tool_call" as const, id, name: "pay", arguments: `{"to":"${id}"}` }));
  const usage = { input_tokens: 1, output_tokens: 1, cached_input_tokens: 0, reasoning_tokens: 0 };
  const spend = { usage, cost_usd: 1, estimated: false };
  const model = (step_index: number, turn_index: number): RunEvent => ({
    type: "step.started",
    step_id: `stp_${step_index}`,
    step_index,
    step_type: "model_call",
    turn_index,
    name: "m",
    attempt: 1,
    tool_call_id: null,
    input_hash: null,
  });
  const answered = (step_index: number, answer: object): RunEvent => ({
    type: "step.completed",
    step_index,
    step_type: "model_call",
    status: "completed",
    latency_ms: 1,
    error: null,
    answer: {
      ...spend,
      message_id: `msg_${step_index}`,
      deltas: [],
      finish: null,
      time_to_first_token_ms: 1,
      parts: [],
      ...answer,
    },
  });
  const asked = (id: string, step_index: number): RunEvent[] => [
    {
      type: "tool.requested",
      call: {
        id,
        step_index,
        turn_index: 0,
        tool_id: null,
        tool: "pay",
        type: "http",
        arguments: { to: id },
        needs: null,
      },
    },
    {
      type: "step.started",
      step_id: `stp_${step_index}`,
      step_index,
      step_type: "tool_call",
      turn_index: 0,
      name: "pay",
      attempt: 1,
      tool_call_id: id,
      input_hash: null,
    },
  ];
  const done = (id: string, step_index: number, status: "completed" | "cancelled"): RunEvent[] => [
    {
      type: "tool.completed",
      tool_call_id: id,
      step_index,
      tool: "pay",
      status,
      output: id,
      error: null,
      latency_ms: 1,
      attempts: 1,
      message_id: `msg_${id}`,
      submitted: false,
    },
    {
      type: "step.completed",
      step_index,
      step_type: "tool_call",
      status,
      latency_ms: 1,
      error: null,
      answer: null,
    },
  ];
  const created: RunEvent = {
    type: "run.created",
    run_id: "run_1",
    project_id: "p",
    environment: "test",
    agent_id: "agt_1",
    agent_version: 1,
    agent_hash: "h",
    model: "m",
    input: "Go",
    message_id: "msg_in",
    max_turns: 9,
    timeout_ms: 1,
    action_timeout_ms: 1,
    on_disconnect: "continue",
    thread_id: null,
    session_id: null,
    user_id: null,
    file_ids: [],
    parent_run_id: null,
    metadata: {},
    request_id: null,
  };
  const isOver = second !== "running";
  const events: RunEvent[] = [
    created,
    model(0, 0),
    answered(0, { parts }),
    ...asked("a", 1),
    ...asked("b", 2),
    ...(isOver ? done("b", 2, second) : []),
    ...done("a", 1, "completed"),
    ...(second === "completed" ? [model(3, 1), answered(3, { parts: [{ type: "text", text: "Paid." }] })] : []),
  ];
  return events.map((event, index) => ({ seq: index + 1, at: index * 10, event }));
}

const outputs = (entries: JournalEntry[]) => fold(entries).calls.map(({ id, output }) => [id, output]);

describe("after an answer with several calls", () => {
  test("a fork of one call has the results of all", () => {
    expect(outputs(forkOf(twoCalls(), 1))).toEqual([
      ["a", "a"],
      ["b", "b"],
    ]);
    expect(outputs(forkOf(twoCalls(), 0))).toEqual(outputs(forkOf(twoCalls(), 2)));
  });

  test("a cancelled call has none: it is made again under another id", () => {
    const state = fold(forkOf(twoCalls("cancelled"), 1));
    expect(state.calls.map(({ id }) => id)).toEqual(["a"]);
    const answer = state.messages.find(({ role }) => role === "assistant");
    const ids = answer?.role === "assistant" ? answer.parts.flatMap((part) => ("id" in part ? [part.id] : [])) : [];
    expect(ids).toEqual(["a", expect.stringMatching(/^call_/)]);
  });

  test("one that is at work makes the fork wait for its end", () => {
    expect(cannot(twoCalls("running"), 1)).toMatchObject({
      param: "step_index",
      message: expect.stringContaining("not known yet"),
    });
    expect(cannot(twoCalls("running"), 2)?.message).toBe("Step 2 has not ended. Fork from an earlier step, or wait.");
    expect(cannot(twoCalls("running"), -1)).toBeNull();
  });

  test("an edited output replaces the tool's only", () => {
    const edits = { tool_output: { output: null, error: { code: "client_error", message: "No." } } };
    const { calls, usage } = fold(forkOf(twoCalls(), 2, edits));
    expect(calls).toMatchObject([
      { id: "a", status: "completed", output: "a" },
      { id: "b", status: "failed", output: null, error: { message: "No." } },
    ]);
    expect(usage).toMatchObject({ model_calls: 0, tool_calls: 0, cost_usd: 0 });
  });

  test("an edited answer that asks for one of them again keeps its result, whatever the order of its arguments", () => {
    const tool_calls = [
      { name: "pay", arguments: { to: "b" } },
      { name: "pay", arguments: { to: "b" } },
    ];
    const state = fold(forkOf(twoCalls(), 0, { model_output: { content: "So.", tool_calls } }));
    expect(state.calls.map(({ id }) => id)).toEqual(["b"]);
    expect(state.messages[1]).toMatchObject({
      parts: [{ type: "text", text: "So." }, { id: "b" }, { id: expect.stringMatching(/^call_/) }],
    });
  });
});

test("later recorded results can be reused, except those that the fork already contains", () => {
  expect(prefixOf(twoCalls(), -1).later).toMatchObject([
    { tool: "pay", arguments: { to: "a" }, status: "completed", output: "a" },
    { arguments: { to: "b" } },
  ]);
  expect(prefixOf(twoCalls(), 1).later).toEqual([]);
  expect(prefixOf(twoCalls("cancelled"), -1).later).toHaveLength(1);
});

test("unused recorded results of a fork are passed on to its own forks; missing ones are not", () => {
  const call = (args: Record<string, unknown>) => ({
    tool: "pay",
    arguments: args,
    status: "completed" as const,
    output: "first",
    error: null,
  });
  const entries = twoCalls().map(({ event, ...entry }): JournalEntry => {
    if (event.type === "run.created")
      return {
        ...entry,
        event: { ...event, recorded: { mode: "recorded_only", calls: [call({ to: "b" }), call({ to: "c" })] } },
      };
    if (event.type !== "tool.requested") return { ...entry, event };
    return { ...entry, event: { ...event, call: { ...event.call, recorded: event.call.id === "b" ? 0 : -1 } } };
  });
  expect(prefixOf(entries, -1).later.map(({ arguments: args, output }) => [args, output])).toEqual([
    [{ to: "b" }, "b"],
    [{ to: "c" }, "first"],
  ]);
});

test("times are those of the record, in their order", () => {
  const times = forkOf(twoCalls(), 3).map(({ at }) => at);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
});
