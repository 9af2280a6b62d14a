import { expect, test } from "bun:test";
import type { Run } from "../../lib/types.ts";
import { callWords, stepMarks } from "./step-marks.ts";

const run = (part: Partial<Run>) =>
  ({ status: "completed", error: null, usage: null, messages: [], tool_calls: [], ...part }) as Run;
const asks = { role: "assistant" as const, tool_calls: [{ id: "call_1" }, { id: "call_2" }] };
const calls = [
  { id: "call_1", tool: "weather", type: "http" },
  { id: "call_2", tool: "helper", type: "agent" },
];
const error = (code: string) => ({ type: "run_error", code, message: "", step_index: 3, retryable: false });
const shown = (part: Partial<Run>) => stepMarks(run(part)).map(({ type, failed }) => (failed ? `${type}!` : type));

test("calls stand in the order in which they were made, an agent's apart from a tool's", () => {
  const messages = [{ role: "user" as const }, asks, { role: "tool" as const }, { role: "assistant" as const }];
  expect(shown({ messages, tool_calls: calls })).toEqual(["model_call", "tool_call", "subagent", "model_call"]);
});

test("a list tells the newest calls by themselves", () => {
  const last_calls: Run["last_calls"] = ["tool_call", "subagent", "model_call"];
  expect(shown({ messages: undefined, tool_calls: undefined, last_calls })).toEqual(last_calls);
  const failed = { status: "failed" as const, error: error("tool_error"), last_calls };
  expect(shown(failed)).toEqual(["tool_call!", "subagent", "model_call"]);
});

test("the mark of what failed is told apart, also where it left no message", () => {
  const failed = { status: "failed" as const, messages: [asks], tool_calls: calls };
  expect(shown({ ...failed, error: error("tool_error") })).toEqual(["model_call", "tool_call!", "subagent"]);
  expect(shown({ ...failed, error: error("guardrail_blocked") }).at(-1)).toBe("guardrail!");
  const usage = { model_calls: 2, tool_calls: 2 } as Run["usage"];
  expect(shown({ ...failed, usage, error: error("model_error") }).at(-1)).toBe("model_call!");
  expect(shown({ ...failed, error: error("budget_exceeded") })).not.toContain("subagent!");
});

test("the numbers of calls are told in words", () => {
  expect(callWords({ model_calls: 2, tool_calls: 1 } as Run["usage"])).toBe("2 model calls, 1 tool call");
  expect(callWords({ model_calls: 1, tool_calls: 0 } as Run["usage"])).toBe("1 model call");
  expect(callWords(null)).toBe("");
});
