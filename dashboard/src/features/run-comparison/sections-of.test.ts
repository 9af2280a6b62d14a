import { expect, test } from "bun:test";
import type { DiffStep as StepPair, TraceStep } from "../../../../server/domain/api-types/trace.ts";
import { stepOf } from "../trace/trace-fixtures.ts";
import { sectionsOf } from "./sections-of.ts";

const pair = (more: Partial<StepPair>): StepPair => ({
  index: 1,
  a_step_index: 1,
  b_step_index: 1,
  type: "tool_call",
  name: "get_weather",
  change: "changed",
  differences: [],
  latency_ms: { a: 1, b: 2 },
  cost_usd: { a: null, b: null },
  ...more,
});
const step = (more: Partial<TraceStep>): TraceStep =>
  stepOf(1, { name: "get_weather", input: { city: "Oslo" }, output: null, ...more });
const differs = (...paths: string[]) => paths.map((path) => ({ path, a: 1, b: 2 }));

test("an equal pair has no sections", () => {
  expect(sectionsOf(pair({ change: "equal" }), { a: step({}), b: step({}) })).toEqual([]);
});

test("a tool's output is compared as JSON lines, also with an error on the other side", () => {
  const found = {
    a: step({ status: "failed", error: { code: "tool_error", message: "503" } }),
    b: step({ output: '{"stock":14}' }),
  };
  expect(sectionsOf(pair({ differences: differs("status", "output", "error") }), found)).toEqual([
    {
      title: "Output",
      kind: "lines",
      a: '{\n  "code": "tool_error",\n  "message": "503"\n}',
      b: '{\n  "stock": 14\n}',
    },
  ]);
});

test("a model call shows new messages, output and tool calls that differ", () => {
  const call = (content: string, read: string, city: string) =>
    step({
      type: "model_call",
      input: {
        messages: [
          { role: "user", content: "Hi" },
          { role: "tool", content: read },
        ],
      },
      output: { content, tool_calls: [{ id: city, name: "get_weather", arguments: { city } }] },
    });
  const found = { a: call("Same.", "It is snowing", "Oslo"), b: call("Same.", "It is sunny", "Rome") };
  const differences = differs("input.messages[1].content", "output.tool_calls[0].arguments.city");
  expect(sectionsOf(pair({ type: "model_call", differences }), found)).toEqual([
    { title: "Input, tool", kind: "prose", a: "It is snowing", b: "It is sunny" },
    {
      title: "Calls",
      kind: "lines",
      a: 'get_weather {\n  "city": "Oslo"\n}',
      b: 'get_weather {\n  "city": "Rome"\n}',
    },
  ]);
});

test("an unmatched step shows its arguments and output on its own side", () => {
  const alone = sectionsOf(pair({ change: "only_b", a_step_index: null }), {
    a: undefined,
    b: step({ output: "ok" }),
  });
  expect(alone).toEqual([
    { title: "Arguments", kind: "lines", a: null, b: '{\n  "city": "Oslo"\n}' },
    { title: "Output", kind: "prose", a: null, b: "ok" },
  ]);
});

test("fields without a section of their own are listed by path", () => {
  const differences = [{ path: "subagent.agent_id", a: "agt_1", b: "agt_2" }];
  expect(sectionsOf(pair({ differences }), { a: step({}), b: step({}) })).toEqual([
    { title: "Differences", kind: "lines", a: "subagent.agent_id: agt_1", b: "subagent.agent_id: agt_2" },
  ]);
});
