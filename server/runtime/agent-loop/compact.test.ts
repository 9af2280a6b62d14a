import { expect, test } from "bun:test";
import { created } from "../../domain/__fixtures__/events.ts";
import type { AgentSnapshot, ContextPolicy, Guardrail } from "../../domain/agent-snapshot.ts";
import type { Budget } from "../../domain/budget-schema.ts";
import type { JournalEntry, RunEvent } from "../../domain/run-event.ts";
import { fold } from "../../domain/run-state.ts";
import { httpTool } from "../../testing/run-fixture.ts";
import { type ModelError, type ModelEvent, type ModelRequest, unknownUsage } from "../models/model.ts";
import { testConnection } from "../models/registry.ts";
import { runLoop } from "./run-loop.ts";

const usage = { input_tokens: 100, output_tokens: 10, cached_input_tokens: 0, reasoning_tokens: 0 };
const says = (text: string): ModelEvent[] => [
  { type: "delta", part: 0, kind: "output", text },
  { type: "done", finish: "stop", usage },
];
const calls: ModelEvent[] = [
  { type: "tool_call", part: 0, name: "look", arguments: "{}" },
  { type: "done", finish: "tool_calls", usage },
];
const fails = (code: ModelError["code"], retryable = false): ModelEvent[] => [
  {
    type: "error",
    error: { code, message: "No.", retryable, retry_after_ms: 1, aborted: false, request: "answered" },
    usage: unknownUsage,
  },
];
const tooLong = fails("context_length_exceeded");

interface Setting {
  window?: number | null;
  context?: Partial<ContextPolicy>;
  budget?: Budget;
  guardrails?: Guardrail[];
}

/** Runs a loop whose model has a small window. It asks for long tool results first, then gives these answers. */
async function run(answers: ModelEvent[][], { window = 1250, context, budget, guardrails }: Setting = {}) {
  const entries: JournalEntry[] = [];
  const requests: ModelRequest[] = [];
  const append = async (events: RunEvent[]) => {
    const seq = entries.length + 1;
    entries.push(...events.map((event, index) => ({ seq: seq + index, at: 0, event })));
    return { seq, at: 0 };
  };
  async function* stream(request: ModelRequest): AsyncGenerator<ModelEvent> {
    yield* answers[requests.push(request) - 1] ?? fails("model_error");
  }
  const agent: AgentSnapshot = {
    id: "agt_1",
    version: 1,
    name: "Agent",
    model: "test/script",
    instructions: "Be brief.",
    settings: {},
    tools: [httpTool("look", "")],
    max_turns: 20,
    output_schema: null,
    guardrails,
    memory: {
      stores: [],
      history: { mode: "none", max_messages: 50 },
      context: { strategy: "compact", reserve_output_tokens: 100, tool_output_max_bytes: 40_000, ...context },
    },
  };
  await append([created({ max_turns: 20, context_window: window, budget })]);
  const none = () => Promise.reject(new Error("Nobody asks for this."));
  await runLoop(
    {
      drive: 1,
      run_id: "run_1",
      attempt: 1,
      history: [...entries],
      agent,
      connection: testConnection,
      model: "script",
      secrets: {},
      egress: { allow: [], loopback: false },
    },
    {
      append,
      outlet: { push() {}, pushLater: (collect: () => void) => collect() },
      model: { stream },
      keepFile: none,
      startChild: none,
      inPlace: <T>(call: () => Promise<T>) => call(),
      sleep: async () => {},
      ask: none,
      modelNamed: none,
      runTool: async () => ({ output: `secret-word ${"x".repeat(1000)}`, error: null, attempts: 1 }),
      reserve: async () => null,
      now: () => 0,
    },
    new AbortController().signal,
  );
  const events = <T extends RunEvent["type"]>(type: T) =>
    entries.flatMap(({ event }) => (event.type === type ? [event as Extract<RunEvent, { type: T }>] : []));
  return { state: fold(entries), requests, events };
}

// Three turns fill the window: the next call does not fit.
const filled = [calls, calls, calls];

test("the run's own model is asked for a summary, without tools, which replaces the oldest messages", async () => {
  const { state, requests, events } = await run([...filled, says("They looked twice."), says("All is done.")]);
  expect([state.status, state.output]).toEqual(["completed", "All is done."]);
  const [asked, next] = requests.slice(3);
  expect(asked).toMatchObject({ tools: [], settings: { max_output_tokens: expect.any(Number) } });
  expect(JSON.stringify(asked)).toContain("secret-word");
  expect(next!.messages.map(({ role }) => role)).toEqual(["system", "user", "user", "assistant", "tool"]);
  expect(next!.messages[1]).toMatchObject({ content: expect.stringContaining("They looked twice.") });
  expect(next!.messages[2]).toEqual({ role: "user", content: "Hello" });
  expect(events("context.compacted")).toMatchObject([{ strategy: "compact", left_out: 4, spent: { usage } }]);
  expect(state.usage).toMatchObject({ model_calls: 5, input_tokens: 500 });
});

test("a model that refuses its prompt as too long is asked again with a shorter one, once per turn", async () => {
  const helped = await run([...filled, tooLong, says("A summary."), says("Done.")], { window: null });
  expect([helped.state.status, helped.state.output]).toEqual(["completed", "Done."]);
  expect(helped.events("context.compacted")).toHaveLength(1);
  const { state, requests } = await run([...filled, tooLong, says("A summary."), tooLong], { window: null });
  expect(state).toMatchObject({ status: "failed", error: { code: "context_length_exceeded", message: "No." } });
  expect(requests).toHaveLength(6);
});

test("a prompt that is refused in a later turn is shortened again", async () => {
  const truncate = { window: null, context: { strategy: "truncate" as const } };
  const { state, events } = await run([...filled, tooLong, calls, tooLong, says("Done.")], truncate);
  expect(state.output).toBe("Done.");
  const cuts = events("context.compacted").map(({ left_out }) => left_out);
  expect(cuts).toHaveLength(2);
  expect(cuts[1]).toBeGreaterThan(cuts[0]!);
});

test("dropping the oldest messages asks no model, and is appended together with the next events", async () => {
  const { state, requests, events } = await run([...filled, says("Done.")], { context: { strategy: "truncate" } });
  expect([state.output, requests.length]).toEqual(["Done.", 4]);
  expect(events("context.compacted")).toMatchObject([{ strategy: "truncate", summary: null, spent: null }]);
  expect(requests[3]!.messages.slice(0, 3).map(({ role }) => role)).toEqual(["system", "user", "assistant"]);
});

test("with that strategy a prompt that is too long fails the run, and no model is asked", async () => {
  const { state, requests } = await run([...filled, says("Never.")], { context: { strategy: "fail" } });
  expect(state).toMatchObject({ status: "failed", error: { code: "context_length_exceeded" } });
  expect(requests).toHaveLength(3);
});

test("a summary that fails transiently is retried, and its cost counts", async () => {
  const { state, events } = await run([...filled, fails("model_rate_limited", true), says("So."), says("Done.")]);
  expect(state.status).toBe("completed");
  expect(events("step.restarted")).toMatchObject([{ step_type: "compaction", attempt: 2 }]);
  expect(state.usage.model_calls).toBe(6);
});

test("if the model cannot be asked for a summary, the run fails", async () => {
  const { state, events } = await run([...filled, fails("model_not_available")]);
  const { step_index } = events("step.started").at(-1)!;
  expect(state).toMatchObject({ status: "failed", error: { code: "model_not_available", step_index } });
  expect(events("step.completed").at(-1)).toMatchObject({ step_type: "compaction", status: "failed" });
});

test("a summary that exceeds the budget is not requested", async () => {
  const { state, requests } = await run(filled, { budget: { max_total_tokens: 1700 } });
  expect(state).toMatchObject({ status: "failed", error: { code: "budget_exceeded" } });
  expect(requests.every(({ tools }) => tools.length > 0)).toBe(true);
});

test("without a summary the oldest messages are dropped nevertheless", async () => {
  for (const answer of [tooLong, says("")]) {
    const { state, events } = await run([...filled, answer, says("Done.")]);
    expect(state.output).toBe("Done.");
    expect(events("context.compacted")).toMatchObject([{ strategy: "truncate", summary: null }]);
  }
});

test("output guardrails apply to the summary: redacted text is journaled nowhere", async () => {
  const guardrail = (action: Guardrail["action"]): Guardrail[] => [
    { type: "blocked_terms", on: ["output"], action, config: { terms: ["tuna"] } },
  ];
  const answers = [...filled, says("They bought tuna."), says("Done.")];
  const redacted = await run(answers, { guardrails: guardrail("redact") });
  expect(redacted.events("context.compacted")[0]!.summary).toMatch(/^They bought .+/);
  const blocked = await run(answers, { guardrails: guardrail("block") });
  expect(blocked.events("context.compacted")).toMatchObject([{ strategy: "truncate", summary: null }]);
  for (const { state, events } of [redacted, blocked]) {
    expect(state.output).toBe("Done.");
    expect(events("guardrail.decided")).toHaveLength(1);
    expect(JSON.stringify(state)).not.toContain("tuna");
  }
});
