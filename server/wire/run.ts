import { type Static, Type } from "@sinclair/typebox";
import { guardrailPoints, guardrailTypes } from "../core/agent-snapshot.ts";
import { runErrorCodes } from "../core/errors.ts";
import { origins } from "../core/origin.ts";
import { callNeeds, divergenceKinds, replayAgents, replayModes } from "../core/run-event.ts";
import { inputRoles } from "../core/run-input.ts";
import { runStatuses, type ToolCallStatus } from "../core/run-state.ts";
import { stripTypes } from "../core/run-summary.ts";
import { Budget } from "./agent.ts";
import { FileFacts } from "./file.ts";
import {
  anyObject,
  anything,
  boolean,
  CodedError,
  integer,
  list,
  named,
  number,
  object,
  oneOf,
  optional,
  orNull,
  resource,
  text,
  time,
  typed,
  word,
} from "./schema.ts";

const InputMessage = named("InputMessage", object({ role: oneOf(inputRoles), content: text }));
/** What a run is asked. */
export const Input = named("Input", Type.Union([text, list(InputMessage)]));

export const message = {
  id: text,
  role: oneOf(["system", "user", "assistant", "tool"]),
  content: text,
  created_at: time,
  tool_calls: optional(list(object({ id: text, name: text, arguments: anyObject }))),
  tool_call_id: optional(text),
};
const Message = named("Message", object(message));

const ToolCall = named(
  "ToolCall",
  object({
    id: text,
    tool_id: orNull(text),
    tool: text,
    type: text,
    arguments: anyObject,
    status: typed<ToolCallStatus>(text),
    output: anything,
    error: orNull(CodedError),
    attempts: integer,
    latency_ms: orNull(integer),
    files: list(FileFacts),
    subagent_run_id: orNull(text),
    created_at: time,
    completed_at: orNull(time),
  }),
);

const pendingCall = {
  id: text,
  tool_id: orNull(text),
  tool: text,
  arguments: anyObject,
  needs: oneOf(callNeeds),
  expires_at: time,
};

export const RequiredCall = object({ ...pendingCall, run_id: optional(text) });

export const RequiredAction = named(
  "RequiredAction",
  object({
    type: word("submit_tool_outputs"),
    submit_tool_outputs: object({ tool_calls: list(RequiredCall) }),
  }),
);

export const Approval = resource("Approval", "approval", { run_id: text, ...pendingCall });
export type Approval = Static<typeof Approval>;

export const counts = {
  input_tokens: orNull(integer),
  output_tokens: orNull(integer),
  cached_input_tokens: orNull(integer),
  reasoning_tokens: orNull(integer),
};
export const cost = { cost_usd: orNull(number), estimated: boolean };

export const Usage = named(
  "Usage",
  object({ ...counts, total_tokens: orNull(integer), model_calls: integer, tool_calls: integer, ...cost }),
);

export const Divergence = named(
  "Divergence",
  object({
    step_index: integer,
    kind: oneOf(divergenceKinds),
    expected_hash: text,
    actual_hash: text,
    message: text,
    expected: optional(anything),
    actual: optional(anything),
  }),
);

/** Which of an agent's guardrails, and what it looked at. */
export const GuardrailPlace = object({ index: integer, type: oneOf(guardrailTypes), on: oneOf(guardrailPoints) });

export const RunError = named(
  "RunError",
  object({
    type: word("run_error"),
    code: oneOf(runErrorCodes),
    message: text,
    step_index: orNull(integer),
    retryable: boolean,
    guardrail: optional(GuardrailPlace),
    divergence: optional(Divergence),
  }),
);

const Replay = named(
  "Replay",
  object({
    mode: oneOf(replayModes),
    agent: oneOf(replayAgents),
    agent_version: integer,
    divergences: list(Divergence),
    first_divergence: orNull(Divergence),
    matched_steps: integer,
    model_calls: integer,
    tool_calls: integer,
  }),
);

export const ForkedFrom = object({ run_id: text, step_index: integer });

const run = {
  agent_id: text,
  agent_version: integer,
  model: text,
  status: oneOf(runStatuses),
  input: Input,
  output: orNull(text),
  output_json: anything,
  required_action: orNull(RequiredAction),
  usage: Usage,
  error: orNull(RunError),
  thread_id: orNull(text),
  session_id: orNull(text),
  user_id: orNull(text),
  file_ids: list(text),
  budget: orNull(Budget),
  trace_id: orNull(text),
  parent_run_id: orNull(text),
  forked_from: orNull(ForkedFrom),
  replay_of: orNull(text),
  origin: oneOf(origins),
  replay: orNull(Replay),
  queue_position: orNull(integer),
  attempt: integer,
  started_at: orNull(time),
  ended_at: orNull(time),
  expires_at: orNull(time),
};

export const Run = resource("Run", "run", { ...run, messages: list(Message), tool_calls: list(ToolCall) });
export type Run = Static<typeof Run>;

/** What was said comes along only where it is asked for. */
export const RunListItem = resource("RunListItem", "run", {
  ...run,
  last_calls: list(oneOf(stripTypes)),
  messages: optional(list(Message)),
  tool_calls: optional(list(ToolCall)),
});
export type RunListItem = Static<typeof RunListItem>;

/** A run, by itself or as an item of a list. */
export type AnyRun = Omit<RunListItem, "last_calls"> & Partial<Pick<RunListItem, "last_calls">>;
