import { expect, test } from "bun:test";
import { childEvents } from "./child-events.ts";
import type { RequiredCall } from "./run-event.ts";
import { initialState, type RunState, type ToolCall } from "./run-state.ts";

const expires_at = "2026-11-21T10:00:00.000Z";
const asks = (id: string): RequiredCall => ({
  id,
  tool_id: "tool_1",
  tool: "look",
  arguments: {},
  needs: "output",
  expires_at,
  run_id: "run_child",
});
const agentCall = (id: string, ...waits_for: RequiredCall[]): ToolCall =>
  ({
    id,
    type: "agent",
    status: "running",
    needs: null,
    child: { run_id: `run_${id}`, agent_id: "a", waits_for },
  }) as ToolCall;
const own = { id: "own", type: "client", status: "awaiting_output", needs: "output", child: null } as ToolCall;

const waiting = (...calls: ToolCall[]): RunState =>
  ({
    ...initialState,
    status: "requires_action",
    calls,
    waiting_since: 0,
    run: { action_timeout_ms: 1000 },
    required_action: { type: "submit_tool_outputs", submit_tool_outputs: { tool_calls: [] } },
  }) as unknown as RunState;

const now = (standings: Record<string, RequiredCall[]>) => (runId: string) => standings[runId] ?? [];

test("a run whose child no longer requires action resumes", () => {
  expect(childEvents(waiting(agentCall("a", asks("x"))), now({}), 0)).toEqual([
    { type: "subagent.resumed", tool_call_id: "a" },
    { type: "run.resumed" },
  ]);
});

test("it keeps waiting for its own calls and its other children", () => {
  const state = waiting(agentCall("a", asks("x")), agentCall("b", asks("y")), own);
  const events = childEvents(state, now({ run_b: [asks("z")] }), 0);
  expect(events.map(({ type }) => type)).toEqual(["subagent.resumed", "subagent.waiting", "run.requires_action"]);
  expect(events[2]).toMatchObject({
    required_action: { submit_tool_outputs: { tool_calls: [{ id: "z", run_id: "run_child" }, { id: "own" }] } },
  });
});

test("nothing is noted twice, and nothing by a run that does not wait", () => {
  const state = waiting(agentCall("a", asks("x")));
  expect(childEvents(state, now({ run_a: [asks("x")] }), 0)).toEqual([]);
  expect(childEvents({ ...state, status: "in_progress" }, now({}), 0)).toEqual([]);
});
