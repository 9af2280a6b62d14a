import { lastText, type RunInput, withLastText } from "../../../../server/core/run-input.ts";
import { stepKinds } from "../../../../server/core/step-kinds.ts";
import type { AnyRun as Run } from "../../../../server/wire/run.ts";
import type { TraceStep } from "../../../../server/wire/trace.ts";
import { fieldsOf, isJsonObject, jsonText, readJson } from "../../lib/json-text.ts";

export const forkRules = ["recorded_then_live", "recorded_only", "live"] as const;
/** What becomes of tool calls after the step. */
export type ForkRule = (typeof forkRules)[number];

/** A fork as somebody writes it. */
export interface ForkDraft {
  /** What the step gave: JSON of a tool, text of a model. */
  output: string;
  /** Of a tool: what it gave is what went wrong. */
  isError: boolean;
  /** Of a model: the calls that it asked for, as JSON. */
  calls: string;
  input: string;
  /** The whole input as it was, of which that is the last text. */
  asked: RunInput;
  /** Empty: as recorded. */
  model: string;
  instructions: string;
  isCurrent: boolean;
  tools: ForkRule;
}

/** What of a step can be written anew. */
type Editable = "tool" | "model" | "nothing";

export function editableOf({ type }: Pick<TraceStep, "type">): Editable {
  if (stepKinds[type]?.isCall) return "tool";
  return type === "model_call" ? "model" : "nothing";
}

/** The draft that changes nothing. */
export function recordedDraft(run: Pick<Run, "input" | "origin">, step: TraceStep): ForkDraft {
  const { content, tool_calls } = fieldsOf(step.output);
  const isModel = editableOf(step) === "model";
  return {
    output: isModel ? String(content ?? "") : jsonText(step.output ?? step.error?.message ?? null),
    isError: !isModel && step.error !== null,
    calls: jsonText(isModel ? askedCalls(tool_calls) : []),
    input: lastText(run.input),
    asked: run.input,
    model: "",
    instructions: "",
    isCurrent: false,
    tools: run.origin === "import" ? "recorded_only" : "recorded_then_live",
  };
}

/** Some models give arguments as text of JSON, as it came over the wire. */
const askedCalls = (calls: unknown) =>
  (Array.isArray(calls) ? calls : []).map((call: unknown) => {
    const { name, arguments: args } = fieldsOf(call);
    const { value, fault } = readJson(typeof args === "string" ? args : "");
    return { name, arguments: fault === null ? value : args };
  });

/** What of it is no JSON, or not the JSON that is needed; null where all is well. */
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
  return isList ? null : "Expected a list of calls, each with a name and an object of arguments.";
}

const isCall = (value: unknown): boolean =>
  isJsonObject(value) && typeof value.name === "string" && isJsonObject(value.arguments);

/** Whether the step's own output is another one than was recorded. */
export function isOutputChanged(draft: ForkDraft, recorded: ForkDraft): boolean {
  const { output, isError, calls } = draft;
  return isError !== recorded.isError || !isSame(output, recorded.output) || !isSame(calls, recorded.calls);
}

/** The same text, or the same JSON written otherwise. */
function isSame(a: string, b: string): boolean {
  if (a === b) return true;
  const [left, right] = [readJson(a), readJson(b)];
  return left.fault === null && right.fault === null && JSON.stringify(left.value) === JSON.stringify(right.value);
}

/** The body of the request. Only what differs from the record goes into it. */
export function forkBody(step: TraceStep, draft: ForkDraft, recorded: ForkDraft) {
  const { model, instructions, input, tools, isCurrent } = draft;
  const edits = {
    ...(isOutputChanged(draft, recorded) && outputEdit(step, draft)),
    ...(instructions.trim() && { instructions }),
    ...(model.trim() && { model: model.trim() }),
    ...(input !== recorded.input && { input: withLastText(recorded.asked, input) }),
  };
  return { step_index: step.step_index, edits, tools, ...(isCurrent && { agent: "current" }) };
}

function outputEdit(step: TraceStep, { output, isError, calls }: ForkDraft) {
  if (editableOf(step) === "tool") return { tool_output: readJson(output).value, ...(isError && { is_error: true }) };
  return { model_output: { content: output, tool_calls: readJson(calls).value } };
}
