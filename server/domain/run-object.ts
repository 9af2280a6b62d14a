import { parseExact } from "../lib/exact-numbers.ts";
import { activeAgentId } from "./handoff.ts";
import { siblingId } from "./ids.ts";
import type { ImageFacts } from "./model-call.ts";
import { toolText } from "./prompt.ts";
import { sourcesIn } from "./provider-items.ts";
import { shownAction } from "./required-action.ts";
import { cancelError } from "./run-error.ts";
import { type MessageMedia, toRequestInput } from "./run-input.ts";
import { modelsOf } from "./run-models.ts";
import { isOver, type Message, type RunState, type ToolCall } from "./run-state.ts";
import { triggerOf } from "./run-trigger.ts";
import { textOf } from "./text-of.ts";
import { timestamp, timestampOrNull } from "./time.ts";
import { type Timing, timingOf } from "./timing.ts";

/**
 * Returns a run for clients (contract, section 6). `expiresAt` in milliseconds, null while the run is queued and once
 * it is over; `queuePosition` is the current one of a queued run, else the initial one.
 */
export function runObject(state: RunState, expiresAt: number | null, queuePosition = state.queue_position) {
  const run = state.run;
  const callOf = callsById(state.calls);
  return {
    id: run.run_id,
    object: "run" as const,
    agent_id: run.agent_id,
    agent_version: run.agent_version,
    ...(state.handoffs.length > 0 && { last_agent_id: activeAgentId(state) }),
    agent_label: run.label?.name ?? null,
    model: run.model,
    ...(run.fallbacks && { models: modelsOf(run).map(({ model }) => model) }),
    status: state.status,
    input: toRequestInput(run),
    output: state.output,
    output_json: state.output_json ?? null,
    messages: state.messages.map((message) => messageObject(message, callOf)),
    tool_calls: state.calls.map(toolCallObject),
    required_action: state.required_action && shownAction(state.required_action),
    usage: state.usage,
    error: state.status === "cancelled" ? cancelError(state.cancel_reason) : state.error,
    thread_id: run.thread_id,
    session_id: run.session_id,
    user_id: run.user_id,
    file_ids: run.file_ids,
    budget: run.budget ?? null,
    ...(run.variables && { variables: run.variables }),
    metadata: run.metadata,
    trace_id: siblingId(run.run_id, "trace") as string | null,
    parent_run_id: run.parent_run_id,
    forked_from: run.forked_from ?? null,
    replay_of: run.replay_of ?? null,
    origin: triggerOf(run),
    replay: run.replay ?? null,
    queue_position: state.status === "queued" ? queuePosition : null,
    pause_requested_at: timestampOrNull(state.pause?.at ?? null),
    attempt: state.attempt,
    created_at: timestamp(state.created_at),
    started_at: timestampOrNull(state.started_at),
    ended_at: timestampOrNull(state.ended_at),
    timing: timingObject(state),
    expires_at: timestampOrNull(isOver(state.status) ? null : expiresAt),
    environment: run.environment,
    project_id: run.project_id,
  };
}
export type RunObject = ReturnType<typeof runObject>;

/** Returns a run from the summary that was stored when its trace was deleted. */
export const runOfSummary = (summary: string): RunObject => ({
  timing: null,
  ...parseExact<Omit<RunObject, "timing">>(summary),
});

function timingObject(state: RunState): (Timing & { as_of: string }) | null {
  const { run } = state;
  const recorded_ms = triggerOf(run) === "fork" ? (run.recorded_ms ?? null) : 0;
  const { as_of, ...timing } = timingOf(state, recorded_ms);
  return { ...timing, as_of: timestamp(as_of) };
}

/** Lists of a run that may be long and can be excluded on request. */
export const runLists = ["messages", "tool_calls"] as const;
export type RunList = (typeof runLists)[number];

/** Returns the lists of a run; items are created when they are read. */
export function runListsOf({ messages, calls }: RunState): Record<RunList, Iterable<unknown>> {
  const callOf = callsById(calls);
  return {
    messages: each(messages, (message) => messageObject(message, callOf)),
    tool_calls: each(calls, toolCallObject),
  };
}

function* each<From, To>(all: readonly From[], show: (one: From) => To): Generator<To> {
  for (const one of all) yield show(one);
}

export type CallOf = (id: string) => ToolCall | undefined;

/** Maps calls by id; the newer of two with one id wins. */
export function callsById(calls: readonly ToolCall[]): CallOf {
  const byId = new Map(calls.map((call) => [call.id, call]));
  return (id) => byId.get(id);
}

export function messageObject(message: Message, callOf: CallOf) {
  const { id, role, at } = message;
  const created_at = timestamp(at);
  if (message.role === "user") {
    const steered = message.steered && { steered: true as const };
    return { id, role, content: message.content, ...shownMedia(message), ...steered, created_at };
  }
  if (message.role === "tool") {
    const { tool_call_id, given } = message;
    if (given) return { id, role, content: given.output, ...shownMedia(given), tool_call_id, created_at };
    const call = callOf(message.tool_call_id);
    return {
      id,
      role,
      content: call ? toolText(call).output : "",
      ...(call?.images && shownMedia({ images: call.images })),
      tool_call_id: message.tool_call_id,
      created_at,
    };
  }
  const toolCallParts = message.parts.flatMap((part) => (part.type === "tool_call" ? [part] : []));
  const tool_calls = toolCallParts.map((part) => ({
    id: part.id,
    name: part.name,
    arguments: (message.given ? parseExact<Record<string, unknown>>(part.arguments) : callOf(part.id)?.arguments) ?? {},
  }));
  const sources = sourcesIn(message.parts);
  return {
    id,
    role,
    content: textOf(message.parts),
    ...(sources.length > 0 && { sources }),
    ...(tool_calls.length > 0 && { tool_calls }),
    ...(message.interrupted && { interrupted: true as const }),
    ...(message.agent_id !== undefined && { agent_id: message.agent_id }),
    created_at,
  };
}

/** Returns the media of a message for clients, without hashes. */
function shownMedia({ images, audio, files }: MessageMedia) {
  return {
    ...(images && { images: images.map(toShown) }),
    ...(audio && { audio: audio.map(toShown) }),
    ...(files && { files: files.map((file) => ({ ...toShown(file), filename: file.filename })) }),
  };
}

const toShown = ({ file_id, mime_type }: ImageFacts) => ({ file_id, mime_type });

export const toolCallObject = (call: ToolCall) => ({
  id: call.id,
  tool_id: call.tool_id,
  tool: call.tool,
  type: call.type,
  arguments: call.arguments,
  status: call.status,
  output: call.output ?? null,
  error: call.error,
  attempts: call.attempts,
  latency_ms: call.latency_ms,
  files: call.files,
  subagent_run_id: call.child?.run_id ?? null,
  created_at: timestamp(call.created_at),
  completed_at: timestampOrNull(call.completed_at),
});
