import { expect, test } from "bun:test";
import type { TraceStep } from "../../../../server/domain/api-types/trace.ts";
import { draftFaults, forkBody, recordedDraft } from "./fork-draft.ts";

const run = { input: "Go", origin: "run" } as const;
const step = (more: Partial<TraceStep>): TraceStep =>
  ({ step_index: 3, type: "tool_call", name: "look_up", output: null, error: null, ...more }) as TraceStep;

test("an unchanged fork contains only its step and its rule", () => {
  const tool = step({ output: { sky: "clear" } });
  const recorded = recordedDraft(run, tool);
  expect(forkBody(tool, recorded, recorded)).toEqual({ step_index: 3, edits: {}, tools: "recorded_then_live" });
  const respaced = { ...recorded, output: '{"sky":"clear"}' };
  expect(forkBody(tool, respaced, recorded).edits).toEqual({});
});

test("a tool's changed output is sent as JSON, and an error as an error", () => {
  const failed = step({ error: { code: "http_error", message: "503" } });
  const recorded = recordedDraft(run, failed);
  expect(recorded).toMatchObject({ output: '"503"', isError: true });
  const mended = { ...recorded, output: '{"stock":14}', isError: false };
  expect(forkBody(failed, mended, recorded).edits).toEqual({ tool_output: { stock: 14 } });
  expect(forkBody(failed, { ...recorded, output: '"504"' }, recorded).edits).toEqual({
    tool_output: "504",
    is_error: true,
  });
});

test("a model's changed answer keeps its tool calls unless they are changed too", () => {
  const call = { id: "call_1", name: "look_up", arguments: { sku: 1 } };
  const model = step({ type: "model_call", output: { content: "Let me look.", tool_calls: [call] } });
  const recorded = recordedDraft(run, model);
  expect(forkBody(model, { ...recorded, output: "Looking." }, recorded).edits).toEqual({
    model_output: { content: "Looking.", tool_calls: [{ name: "look_up", arguments: { sku: 1 } }] },
  });
});

test("arguments that a model sent as text are shown as JSON", () => {
  const output = { content: "", tool_calls: [{ id: "call_1", name: "look_up", arguments: '{"sku":1}' }] };
  const model = step({ type: "model_call", output });
  const recorded = recordedDraft(run, model);
  expect(JSON.parse(recorded.calls)).toEqual([{ name: "look_up", arguments: { sku: 1 } }]);
  expect(draftFaults(model, recorded)).toEqual({ output: null, calls: null });
});

test("invalid JSON and invalid call lists are reported", () => {
  const tool = step({ output: 1 });
  expect(draftFaults(tool, { ...recordedDraft(run, tool), output: "{" }).output).toStartWith("Invalid JSON");
  const model = step({ type: "model_call", output: { content: "" } });
  const faults = draftFaults(model, { ...recordedDraft(run, model), calls: '[{"name": "x"}]' });
  expect(faults).toEqual({ output: null, calls: expect.stringContaining("a list of calls") });
});

test("changed variables are sent as values of their types, and the others stay as they were recorded", () => {
  const declared = [
    { name: "customer", type: "string" },
    { name: "days", type: "integer" },
    { name: "vip", type: "boolean" },
    { name: "note", type: "string" },
  ] as const;
  const tool = step({ output: 1 });
  const recorded = recordedDraft({ ...run, variables: { customer: "Ann", days: 14 } }, tool);
  expect(recorded.values).toEqual({ customer: "Ann", days: "14" });
  expect(forkBody(tool, recorded, recorded, declared).edits).toEqual({});
  const values = { ...recorded.values, days: "30", vip: "true", note: "" };
  expect(forkBody(tool, { ...recorded, values }, recorded, declared).edits).toEqual({
    variables: { days: 30, vip: true },
  });
  const emptied = { ...recorded, values: { ...recorded.values, customer: "", toString: "x" } };
  expect(forkBody(tool, emptied, recorded, declared).edits).toEqual({ variables: { customer: "" } });
});
