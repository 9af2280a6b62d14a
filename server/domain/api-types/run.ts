import { type Static, Type } from "@sinclair/typebox";
import * as t from "../../lib/schema.ts";
import { ModelUsage } from "../model-call.ts";
import * as record from "../run-event.ts";
import { inputRoles } from "../run-input.ts";
import type { RunObject } from "../run-object.ts";
import { runStatuses, type ToolCallStatus } from "../run-state.ts";
import { type RunSummary, stripTypes } from "../run-summary.ts";
import { runTriggers } from "../run-trigger.ts";
import { Budget } from "./agent.ts";
import { CodedError, choiceOf, envelope, resource, type Told, told } from "./schema.ts";

const InputPart = choiceOf("InputPart", "type", {
  text: t.named("InputText", t.object({ type: t.word("text"), text: t.text })),
  image: t.named(
    "InputImage",
    t.object({ type: t.word("image"), file_id: t.optional(t.text), data: t.optional(t.text) }),
  ),
});
const AskedCall = t.named("MessageToolCall", t.object({ id: t.text, name: t.text, arguments: t.anyObject }));
const InputMessage = t.named(
  "InputMessage",
  t.object({
    role: t.oneOf(inputRoles),
    content: Type.Union([t.text, t.list(InputPart)]),
    tool_calls: t.optional(t.list(AskedCall)),
    tool_call_id: t.optional(t.text),
    is_error: t.optional(t.boolean),
  }),
);
/** Input of a run. */
export const Input = t.named("Input", Type.Union([t.text, t.list(InputMessage)]));

export const message = {
  id: t.text,
  role: t.oneOf(["system", "user", "assistant", "tool"]),
  content: t.text,
  created_at: t.time,
  images: t.optional(t.list(t.named("MessageImage", t.object({ file_id: t.text, mime_type: t.text })))),
  tool_calls: t.optional(t.list(AskedCall)),
  tool_call_id: t.optional(t.text),
};
const Message = t.named("Message", t.object(message));

const ToolCall = t.named(
  "ToolCall",
  t.object({
    id: t.text,
    tool_id: t.orNull(t.text),
    tool: t.text,
    type: t.text,
    arguments: t.anyObject,
    status: t.withType<ToolCallStatus>(t.text),
    output: t.anything,
    error: t.orNull(CodedError),
    attempts: t.integer,
    latency_ms: t.orNull(t.integer),
    files: t.list(told(record.FileFacts)),
    subagent_run_id: t.orNull(t.text),
    created_at: t.time,
    completed_at: t.orNull(t.time),
  }),
);

const { run_id, ...calledFor } = told(record.RequiredCall.properties);
const pendingCall = { ...calledFor, expires_at: t.time };

export const RequiredCall = t.named("RequiredToolCall", t.object({ ...pendingCall, run_id }));

export const RequiredAction = t.named(
  "RequiredAction",
  t.object({
    type: t.word("submit_tool_outputs"),
    submit_tool_outputs: t.named("RequiredToolOutputs", t.object({ tool_calls: t.list(RequiredCall) })),
  }),
);

/** Number of runs in a list. */
export const RunCount = t.named(
  "RunCount",
  t.object({ object: t.word("run_count"), count: t.integer, is_more: t.boolean, ...envelope }),
);
export type RunCount = Static<typeof RunCount>;

export const Approval = resource("Approval", "approval", { run_id: t.text, ...pendingCall });
export type Approval = Static<typeof Approval>;

export const counts = told(ModelUsage.properties);
export const Usage = told(record.RunUsage);
export const Divergence = told(record.Divergence);
export const RunError = told(record.RunError);
export const ForkedFrom = told(record.ForkedFrom);

const Replay = t.named(
  "Replay",
  t.object({ ...told(record.Replay.properties), model_calls: t.integer, tool_calls: t.integer }),
);

const Timing = t.named(
  "RunTiming",
  t.object({ worked_ms: t.integer, waited_ms: t.integer, recorded_ms: t.orNull(t.integer), as_of: t.time }),
);

const run = {
  agent_id: t.text,
  agent_version: t.integer,
  model: t.text,
  status: t.oneOf(runStatuses),
  input: Input,
  output: t.orNull(t.text),
  output_json: t.anything,
  required_action: t.orNull(RequiredAction),
  usage: Usage,
  error: t.orNull(RunError),
  thread_id: t.orNull(t.text),
  session_id: t.orNull(t.text),
  user_id: t.orNull(t.text),
  file_ids: t.list(t.text),
  budget: t.orNull(Budget),
  trace_id: t.orNull(t.text),
  parent_run_id: t.orNull(t.text),
  forked_from: t.orNull(ForkedFrom),
  replay_of: t.orNull(t.text),
  origin: t.oneOf(runTriggers),
  replay: t.orNull(Replay),
  queue_position: t.orNull(t.integer),
  attempt: t.integer,
  started_at: t.orNull(t.time),
  ended_at: t.orNull(t.time),
  timing: t.orNull(Timing),
  expires_at: t.orNull(t.time),
};

export const Run = resource("Run", "run", { ...run, messages: t.list(Message), tool_calls: t.list(ToolCall) });
export type Run = Told<Static<typeof Run>, RunObject>;

/** A run with fields left out on request. */
export const RunExcerpt = resource("RunExcerpt", "run", {
  ...run,
  messages: t.optional(t.list(Message)),
  tool_calls: t.optional(t.list(ToolCall)),
});

/** Messages and tool calls are included on request only. */
export const RunListItem = resource("RunListItem", "run", {
  ...run,
  last_calls: t.list(t.oneOf(stripTypes)),
  messages: t.optional(t.list(Message)),
  tool_calls: t.optional(t.list(ToolCall)),
});
export type RunListItem = Told<Static<typeof RunListItem>, RunSummary>;

/** A run, alone or as a list item. */
export type AnyRun = Omit<RunListItem, "last_calls"> & Partial<Pick<RunListItem, "last_calls">>;
