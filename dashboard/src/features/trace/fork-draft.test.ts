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

test("a changed variable is sent with the type of its recorded value, and the others are not sent", () => {
  const variables = { customer: "Ann", days: 14, member: true };
  const tool = step({ output: 1 });
  const recorded = recordedDraft({ ...run, variables }, tool);
  const changed = { ...recorded, variables: { ...recorded.variables, days: "30", member: "false" } };
  expect(forkBody(tool, changed, recorded, variables).edits).toEqual({ variables: { days: 30, member: false } });
  expect(forkBody(tool, recorded, recorded, variables).edits).toEqual({});
});
