import type { AnyRun as Run } from "../../../../server/domain/api-types/run.ts";
import type { TraceStep } from "../../../../server/domain/api-types/trace.ts";
import { lastText, type RunInput, withLastText } from "../../../../server/domain/run-input.ts";
import { stepKinds } from "../../../../server/domain/step-kinds.ts";
import type { Variable, VariableValue } from "../../../../server/domain/variable.ts";
import { typedValue } from "../../entities/agent/variable-rows.ts";
import { fieldsOf, isJsonObject, jsonText, readJson } from "../../lib/json-text.ts";

export const forkRules = ["recorded_then_live", "recorded_only", "live"] as const;
/** Rule for tool calls after the step. */
export type ForkRule = (typeof forkRules)[number];

/** Form state of a fork. */
export interface ForkDraft {
  /** Output of the step: JSON for a tool, text for a model. */
  output: string;
  /** For a tool: the output is an error. */
  isError: boolean;
  /** For a model: its tool calls as JSON. */
  calls: string;
  input: string;
  /** The recorded input; `input` edits its last text. */
  recordedInput: RunInput;
  /** Values of the agent's variables, by name. */
  values: Record<string, string>;
  /** Empty: as recorded. */
  model: string;
  instructions: string;
  isCurrent: boolean;
  tools: ForkRule;
}

/** Part of a step that a fork can edit. */
type Editable = "tool" | "model" | "nothing";

export function editableOf({ type }: Pick<TraceStep, "type">): Editable {
  if (stepKinds[type]?.isCall) return "tool";
  return type === "model_call" ? "model" : "nothing";
}

/** Draft without changes. */
export function recordedDraft(
  run: Pick<Run, "input" | "origin"> & { variables?: Run["variables"] },
  step: TraceStep,
): ForkDraft {
  const { content, tool_calls } = fieldsOf(step.output);
  const isModel = editableOf(step) === "model";
  return {
    output: isModel ? String(content ?? "") : jsonText(step.output ?? step.error?.message ?? null),
    isError: !isModel && step.error !== null,
    calls: jsonText(isModel ? askedCalls(tool_calls) : []),
    input: lastText(run.input),
    recordedInput: run.input,
    values: Object.fromEntries(Object.entries(run.variables ?? {}).map(([name, value]) => [name, String(value)])),
    model: "",
    instructions: "",
    isCurrent: false,
    tools: run.origin === "import" ? "recorded_only" : "recorded_then_live",
  };
}

/** Some models send arguments as JSON text. */
const askedCalls = (calls: unknown) =>
  (Array.isArray(calls) ? calls : []).map((call: unknown) => {
    const { name, arguments: args } = fieldsOf(call);
    const { value, fault } = readJson(typeof args === "string" ? args : "");
    return { name, arguments: fault === null ? value : args };
  });

/** Returns the errors of JSON fields; null if valid. */
export function draftFaults(
  step: TraceStep,
  { output, calls }: ForkDraft,
): { output: string | null; calls: string | null } {
  const editable = editableOf(step);
  if (editable === "tool") return { output: readJson(output).fault, calls: null };
  return { output: null, calls: editable === "model" ? callsFault(calls) : null };
}

function callsFault(text: string): string | null {
  const { value, fault } = readJson(text);
  if (fault !== null) return fault;
  const isList = Array.isArray(value) && value.every((each) => isCall(each));
  return isList ? null : "Must be a list of calls, each with a name and an object of arguments.";
}

const isCall = (value: unknown): boolean =>
  isJsonObject(value) && typeof value.name === "string" && isJsonObject(value.arguments);

/** True if the step's output differs from the recorded one. */
export function isOutputChanged(draft: ForkDraft, recorded: ForkDraft): boolean {
  const { output, isError, calls } = draft;
  return isError !== recorded.isError || !isSame(output, recorded.output) || !isSame(calls, recorded.calls);
}

/** True if the texts are equal, or equal as JSON. */
function isSame(a: string, b: string): boolean {
  if (a === b) return true;
  const [left, right] = [readJson(a), readJson(b)];
  return left.fault === null && right.fault === null && JSON.stringify(left.value) === JSON.stringify(right.value);
}

/** Request body with only the fields that differ from the recording. `declared` are the variables of the agent. */
export function forkBody(step: TraceStep, draft: ForkDraft, recorded: ForkDraft, declared: readonly Variable[] = []) {
  const { model, instructions, input, tools, isCurrent } = draft;
  const variables = changedValues(draft, recorded, declared);
  const edits = {
    ...(isOutputChanged(draft, recorded) && outputEdit(step, draft)),
    ...(instructions.trim() && { instructions }),
    ...(model.trim() && { model: model.trim() }),
    ...(input !== recorded.input && { input: withLastText(recorded.recordedInput, input) }),
    ...(Object.keys(variables).length > 0 && { variables }),
  };
  return { step_index: step.step_index, edits, tools, ...(isCurrent && { agent: "current" }) };
}

/** Returns the values that differ from the recorded ones, as values of their types. */
function changedValues(
  { values }: Pick<ForkDraft, "values">,
  recorded: Pick<ForkDraft, "values">,
  declared: readonly Variable[],
): Record<string, VariableValue> {
  const textOf = (texts: Record<string, string>, name: string) => (Object.hasOwn(texts, name) ? texts[name] : "") ?? "";
  const changed = declared.filter(({ name }) => textOf(values, name) !== textOf(recorded.values, name));
  return Object.fromEntries(changed.map(({ name, type }) => [name, typedValue(type, textOf(values, name))]));
}

function outputEdit(step: TraceStep, { output, isError, calls }: ForkDraft) {
  if (editableOf(step) === "tool") return { tool_output: readJson(output).value, ...(isError && { is_error: true }) };
  return { model_output: { content: output, tool_calls: readJson(calls).value } };
}
