import { parseExact } from "../lib/exact-numbers.ts";
import { isObject } from "../lib/json.ts";
import { jsonFault } from "../lib/json-limits.ts";
import { validateAgainst } from "../lib/json-schema.ts";
import type { AgentSnapshot, ToolSnapshot } from "./agent-snapshot.ts";
import { completeCall, stepTypeOf } from "./complete-call.ts";
import { activeAgent } from "./handoff.ts";
import { limits } from "./limits.ts";
import type { AssistantPart, FinishReason, JsonSchema } from "./model-call.ts";
import { loadedInRun } from "./prompt.ts";
import { missingSeq, replayPosition, usedPositions } from "./replay-lookup.ts";
import type { GuardrailDecided, Needs, RunEvent, ToolError, ToolRequest } from "./run-event.ts";
import type { RunState } from "./run-state.ts";
import { startStep } from "./step-events.ts";
import { withLoadingHint } from "./tool-search/find-tools.ts";

type Asked = Extract<AssistantPart, { type: "tool_call" }>;

/**
 * Returns the requests of an answer's calls. A call that cannot be run (unknown tool, bad arguments) is answered at
 * once with an error, so that the model can correct it and the run does not fail. The same applies to all calls of a
 * cut-off answer (`finish`), because a call that looks complete may not be.
 */
export function requestCalls(
  parts: readonly AssistantPart[],
  state: RunState,
  pinned: AgentSnapshot,
  {
    first = state.steps,
    words = noWords,
    finish = null,
  }: { first?: number; words?: ReadonlyMap<string, Word>; finish?: FinishReason | null } = {},
): RunEvent[] {
  const agent = activeAgent(state, pinned);
  const cut = finish && cutOff[finish];
  const toolCalls = parts.filter((part) => part.type === "tool_call");
  const usedIndexes = usedPositions(state.calls);
  const onRecord = (call: Pick<ToolRequest, "tool" | "arguments">): number | null => {
    const place = replayPosition(state, call, usedIndexes);
    if (place !== null) usedIndexes.add(place);
    return place;
  };
  const loaded = toolCalls.length > 0 ? loadedInRun(state, agent) : null;
  const hint = (error: ToolError, name: string) => (loaded ? withLoadingHint(error, name, loaded, agent) : error);
  return toolCalls.flatMap((part, index) =>
    request(part, first + index, state.turns - 1, agent, words.get(part.id), cut ?? null, onRecord, hint),
  );
}

/** Error code for the calls of a cut-off answer. */
export const cutOffCode = "answer_cut_off";

const notRun = "No tool was called, since a call may be incomplete.";

/** Errors for the calls of a cut-off answer, by finish reason. */
const cutOff: Partial<Record<FinishReason, ToolError>> = {
  length: {
    code: cutOffCode,
    message: `Your answer reached its maximum length and was cut off. ${notRun} Call the tool again, with less text.`,
  },
  content_filter: {
    code: cutOffCode,
    message: `A content filter of the provider cut your answer off. ${notRun} Go on without the text that it stopped.`,
  },
  other: { code: cutOffCode, message: `Your answer was cut off. ${notRun} Call the tool again.` },
};

/** A guardrail's decision about a call: blocked with a reason, or allowed only after approval. */
export type Word = { blocked: string } | "needs_approval";

const noWords: ReadonlyMap<string, Word> = new Map();

/** Returns the guardrail decisions by call id; the first one that blocks wins. */
export function wordsOf(
  decisions: readonly Pick<GuardrailDecided, "guardrail" | "verdict" | "message" | "tool_call_id">[],
): Map<string, Word> {
  const words = new Map<string, Word>();
  for (const { guardrail, verdict, message, tool_call_id: id } of decisions) {
    if (guardrail.on !== "tool_call" || id === null) continue;
    if (verdict === "blocked" && typeof words.get(id) !== "object") words.set(id, { blocked: message });
    else if (verdict === "approval_required" && !words.has(id)) words.set(id, "needs_approval");
  }
  return words;
}

function request(
  part: Asked,
  step_index: number,
  turn_index: number,
  agent: AgentSnapshot,
  word: Word | undefined,
  cut: ToolError | null,
  onRecord: (call: Pick<ToolRequest, "tool" | "arguments">) => number | null,
  hint: (error: ToolError, name: string) => ToolError,
): RunEvent[] {
  const tool = agent.tools.find(({ name }) => name === part.name);
  const read = { ...readArguments(part.arguments, tool) };
  if (read.error) read.error = hint(read.error, part.name);
  if (cut) read.error = cut;
  if (typeof word === "object") read.error = { code: "guardrail_blocked", message: word.blocked };
  const isAsked = word === "needs_approval";
  const isMadeAgain = read.error || tool?.type === "handoff";
  // A handoff has no effect outside of the run, so it is made again instead of being taken from a record.
  const place = isMadeAgain ? null : onRecord({ tool: part.name, arguments: read.arguments });
  // A search that is not on record calls nothing outside.
  const recorded = tool?.type === "tool_search" && place === missingSeq ? null : place;
  // No approval or output is needed for recorded calls, nor for those that are not run.
  const isSettled = read.error || !tool || recorded !== null;
  const needs = isSettled ? null : isAsked ? "approval" : needsOf(tool, read.arguments);
  const call = {
    id: part.id,
    step_index,
    turn_index,
    tool_id: tool && isStored(tool) ? tool.id : null,
    tool: part.name,
    type: tool?.type ?? "unknown",
    arguments: read.arguments,
    needs,
    ...(recorded !== null && { recorded }),
  };
  const startEvents: RunEvent[] = [
    { type: "tool.requested", call },
    startStep({
      step_index,
      step_type: stepTypeOf(call.type),
      turn_index,
      name: part.name,
      tool_call_id: part.id,
    }),
  ];
  return read.error ? [...startEvents, ...refusal(call, read.error)] : startEvents;
}

/** Tools that come with the agent or with the request are not stored, so they have no id to look up. */
const isStored = ({ type, of_request }: ToolSnapshot): boolean =>
  !["memory", "tool_search", "skill", "handoff"].includes(type) && !of_request;

/** Parses a call's arguments and returns their fault, if any; `{}` if they are not a valid object. */
function readArguments(
  text: string,
  tool: ToolSnapshot | undefined,
): { arguments: Record<string, unknown>; error: ToolError | null } {
  const bad = (message: string, args = {}) => ({ arguments: args, error: { code: "invalid_arguments", message } });
  if (Buffer.byteLength(text) > limits.tool_arguments_bytes)
    return bad(`The arguments are larger than ${limits.tool_arguments_bytes} bytes.`);
  let value: unknown;
  try {
    value = parseExact(text.trim() === "" ? "{}" : text);
  } catch (error) {
    return bad(`The arguments are not valid JSON: ${(error as Error).message}`);
  }
  if (!isObject(value)) return bad("The arguments must be a JSON object.");
  const fault = jsonFault(value);
  if (fault) return bad(fault);
  if (!tool) return { arguments: value, error: { code: "tool_not_found", message: "There is no tool of this name." } };
  const faults = validateAgainst(tool.parameters, value);
  if (faults.length === 0) return { arguments: value, error: null };
  return bad(faults.map(({ path, message }) => `${path || "arguments"}: ${message}`).join("; "), value);
}

function needsOf({ approval, type }: ToolSnapshot, args: Record<string, unknown>): Needs | null {
  // Arguments too large to check need approval too, so that size cannot bypass it.
  const fits = (when: JsonSchema) => validateAgainst(when, args).every(({ unchecked }) => unchecked);
  if (approval === "always" || (typeof approval === "object" && fits(approval.when))) return "approval";
  return type === "client" ? "output" : null;
}

const refusal = (call: ToolRequest, error: ToolError): RunEvent[] =>
  completeCall(call, {
    status: "failed",
    output: null,
    error,
    latency_ms: 0,
    attempts: 0,
    submitted: false,
    refused: true,
  });
