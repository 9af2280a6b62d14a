import { expect, test } from "bun:test";
import type { AnyRun as Run } from "../../../../server/domain/api-types/run.ts";
import type { RunErrorCode } from "../../../../server/domain/errors.ts";
import { callWords, stepMarks } from "./step-marks.ts";

const run = (part: Partial<Run>) =>
  ({ status: "completed", error: null, usage: null, messages: [], tool_calls: [], ...part }) as Run;
const at = "2026-11-22T00:00:00.000Z";
const said = (role: "user" | "assistant" | "tool") => ({ id: "msg_1", role, content: "", created_at: at });
const asked = (id: string) => ({ id, name: "", arguments: {} });
const asks = { ...said("assistant"), tool_calls: [asked("call_1"), asked("call_2")] };
const call = (id: string, name: string, type: string) => ({
  id,
  name,
  type,
  tool_id: null,
  arguments: {},
  status: "completed" as const,
  output: null,
  error: null,
  attempts: 1,
  latency_ms: 1,
  files: [],
  subagent_run_id: null,
  created_at: at,
  completed_at: at,
});
const calls = [call("call_1", "weather", "http"), call("call_2", "helper", "agent")];
const error = (code: RunErrorCode) => ({
  type: "run_error" as const,
  code,
  message: "",
  step_index: 3,
  retryable: false,
});
const shown = (part: Partial<Run>) => stepMarks(run(part)).map(({ type, failed }) => (failed ? `${type}!` : type));

test("calls are in order, and subagent calls differ from tool calls", () => {
  const messages = [said("user"), asks, said("tool"), said("assistant")];
  expect(shown({ messages, tool_calls: calls })).toEqual(["model_call", "tool_call", "subagent", "model_call"]);
});

test("a list item contains only the newest calls", () => {
  const last_calls: Run["last_calls"] = ["tool_call", "subagent", "model_call"];
  expect(shown({ messages: undefined, tool_calls: undefined, last_calls })).toEqual(last_calls);
  const failed = { status: "failed" as const, error: error("tool_error"), last_calls };
  expect(shown(failed)).toEqual(["tool_call!", "subagent", "model_call"]);
});

test("the failed call is marked, even if it left no message", () => {
  const failed = { status: "failed" as const, messages: [asks], tool_calls: calls };
  expect(shown({ ...failed, error: error("tool_error") })).toEqual(["model_call", "tool_call!", "subagent"]);
  expect(shown({ ...failed, error: error("guardrail_blocked") }).at(-1)).toBe("guardrail!");
  const usage = { model_calls: 2, tool_calls: 2 } as Run["usage"];
  expect(shown({ ...failed, usage, error: error("model_error") }).at(-1)).toBe("model_call!");
  expect(shown({ ...failed, error: error("budget_exceeded") })).not.toContain("subagent!");
});

test("counts of calls are described in words", () => {
  expect(callWords({ model_calls: 2, tool_calls: 1 } as Run["usage"])).toBe("2 model calls, 1 tool call");
  expect(callWords({ model_calls: 1, tool_calls: 0 } as Run["usage"])).toBe("1 model call");
  expect(callWords(null)).toBe("");
});
