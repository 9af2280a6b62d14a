import { type Static, Type } from "@sinclair/typebox";
import * as t from "../../lib/schema.ts";
import { ModelUsage } from "../model-call.ts";
import * as record from "../run-event.ts";
import { inputRoles, messageRoles } from "../run-input.ts";
import { runStatuses, type ToolCallStatus } from "../run-state.ts";
import { stripTypes } from "../run-summary.ts";
import { runTriggers } from "../run-trigger.ts";
import type { VariableValues } from "../variable.ts";
import { Budget, VariableValue } from "./agent.ts";
import {
  AgentId,
  Arguments,
  AttemptsCount,
  CompletedAt,
  CreatedAt,
  MimeType,
  ModelName,
  objectOf,
  RunId,
  ToolName,
  ToolTypeName,
  typeIs,
} from "./fields.ts";
import { choiceOf, ErrorOrNull, envelope, resource, told } from "./schema.ts";

/** Of calls that a model or a client named, so that it has no form of its own. */
const CallId = t.about("The id of the call, by which its result names it in `tool_call_id`.", t.text);

/** A run shows files; a schedule shows what it was given. */
const contents = {
  file_id: t.about("Id of a file of the project, whose content it is: `file_…`.", t.optional(t.text)),
  data: t.about("The content: a `data:` URL, or base64.", t.optional(t.text)),
  url: t.about("The address from which the content is fetched.", t.optional(t.text)),
};
const InputPart = choiceOf("InputPart", "type", {
  text: t.named(
    "InputText",
    t.object({ type: typeIs("text"), text: t.about("The words of this part of the message.", t.text) }),
  ),
  image: t.named("InputImage", t.object({ type: typeIs("image"), ...contents })),
  audio: t.named("InputAudio", t.object({ type: typeIs("audio"), ...contents })),
  file: t.named(
    "InputFile",
    t.object({
      type: typeIs("file"),
      ...contents,
      filename: t.about("The name of a document that is sent along.", t.optional(t.text)),
    }),
  ),
});
const AskedCall = t.named("MessageToolCall", t.object({ id: CallId, name: ToolName, arguments: Arguments }));
const InputMessage = t.named(
  "InputMessage",
  t.object({
    role: t.about("Who said it: `user`, `assistant` or, of a result, `tool`.", t.oneOf(inputRoles)),
    content: t.about("What was said: a text, or parts that may hold files.", Type.Union([t.text, t.list(InputPart)])),
    tool_calls: t.about("What the assistant asked tools for in this message.", t.optional(t.list(AskedCall))),
    tool_call_id: t.about("The call whose result this message is, of the role `tool`.", t.optional(t.text)),
    is_error: t.about("Whether the output says what went wrong.", t.optional(t.boolean)),
  }),
);
/** Input of a run. */
export const Input = t.named("Input", Type.Union([t.text, t.list(InputMessage)]));

const shown = {
  file_id: t.about("Id of the stored content: `file_…`, for `GET /v1/files/:id`.", t.text),
  mime_type: MimeType,
};
const MessageMedia = t.named("MessageMedia", t.object(shown));
export const MessageFile = t.named(
  "MessageFile",
  t.object({ ...shown, filename: t.about("The name under which the file was uploaded.", t.text) }),
);

const MessageSource = t.named(
  "MessageSource",
  t.object({
    url: t.about("Where the page is on the web.", t.text),
    title: t.about("The page's title, for a link to it; null where it has none.", t.orNull(t.text)),
  }),
);

export const message = {
  id: t.about("The id of the message: `msg_…`. Its events and its thread name it by this.", t.text),
  role: t.about("Who said it: the user, the assistant or a tool.", t.oneOf(messageRoles)),
  content: t.about("What was said, as text; of a tool, its result as the model reads it.", t.text),
  created_at: CreatedAt,
  agent_id: t.about(
    "The agent that said it, after a handoff; absent where it is the agent of the run.",
    t.optional(t.text),
  ),
  images: t.about("Images of the user, or of a tool's result.", t.optional(t.list(MessageMedia))),
  audio: t.about("Recordings of the user.", t.optional(t.list(MessageMedia))),
  files: t.about("Documents of the user.", t.optional(t.list(MessageFile))),
  sources: t.about("Pages that the answer cites.", t.optional(t.list(MessageSource))),
  interrupted: t.about(
    "True for an answer that a message of the user ended; absent otherwise.",
    t.optional(Type.Literal(true)),
  ),
  steered: t.about(
    "True for a message of the user that came while the run was under way; absent otherwise.",
    t.optional(Type.Literal(true)),
  ),
  tool_calls: t.about("The tools that the model asked for.", t.optional(t.list(AskedCall))),
  tool_call_id: t.about("The call whose result this is.", t.optional(t.text)),
};
const Message = t.named("Message", t.object(message));

const ToolCall = t.named(
  "ToolCall",
  t.object({
    id: t.about("The id of the call, by which events name it and its output is submitted.", t.text),
    tool_id: t.about("Id of the tool: `tool_…`; null where it is none of the project's.", t.orNull(t.text)),
    name: ToolName,
    type: ToolTypeName,
    arguments: Arguments,
    status: t.about(
      "`running`, one of the four that begin with `awaiting_`, or how it ended: `completed`, `failed`, `rejected`, `cancelled` or `unknown`.",
      t.withType<ToolCallStatus>(t.text),
    ),
    output: t.about("The result; null where there is none.", t.anything),
    error: ErrorOrNull,
    attempts: AttemptsCount,
    latency_ms: t.about("How long it took, in milliseconds; null while that is not known.", t.orNull(t.integer)),
    files: t.about("Files that the call made.", t.list(told(record.FileFacts))),
    subagent_run_id: t.about("The run that this call of an agent started; null for others.", t.orNull(t.text)),
    created_at: CreatedAt,
    completed_at: t.about("When the call ended; null while it goes on.", t.orNull(t.time)),
  }),
);

const { run_id, tool_id, arguments: args, needs } = told(record.RequiredCall.properties);
const calledFor = { tool_id, name: ToolName, arguments: args, needs };
const ToolCallId = t.about("Id of the call that waits. Submit its output under this id.", t.text);
const pendingCall = {
  tool_call_id: ToolCallId,
  ...calledFor,
  expires_at: t.about("When the run fails if it has not been answered.", t.time),
};

export const RequiredCall = t.named("RequiredToolCall", t.object({ ...pendingCall, run_id }));

const requiredAuthorization = {
  ...told(record.CallAuthorization.properties),
  url: t.about(
    "Where the user consents: open it in the user's browser. Null for readers that may not answer the run's calls.",
    t.orNull(t.text),
  ),
  expires_at: t.about("When the run fails if the user has not consented.", t.time),
  tool_calls: t.about("The calls that are made once the user consents.", t.list(RequiredCall)),
};
const RequiredAuthorization = t.named("RequiredAuthorization", t.object(requiredAuthorization));
const authorizations = t.list(RequiredAuthorization);

const submission = {
  submit_tool_outputs: t.about(
    "The calls that wait for an answer; an empty list where only a user's consent is missing.",
    t.named(
      "RequiredToolOutputs",
      t.object({ tool_calls: t.about("The calls that wait, each with what it needs.", t.list(RequiredCall)) }),
    ),
  ),
};

export const RequiredAction = choiceOf("RequiredAction", "type", {
  submit_tool_outputs: t.named(
    "RequiredSubmission",
    t.object({
      type: t.about("Its type: calls wait for an answer.", t.word("submit_tool_outputs")),
      ...submission,
      authorizations: t.about(
        "Consents that the run waits for as well; absent where there is none.",
        t.optional(authorizations),
      ),
    }),
  ),
  authorization: t.named(
    "RequiredConsent",
    t.object({
      type: t.about("Its type: a user's consent is missing, and nothing else.", t.word("authorization")),
      ...requiredAuthorization,
      authorizations: t.about("All consents that the run waits for. The first one's fields are above.", authorizations),
      ...submission,
    }),
  ),
});

/** Number of runs in a list. */
export const RunCount = t.named(
  "RunCount",
  t.object({
    object: objectOf("run_count"),
    count: t.about("How many runs the list has, 10,000 at most.", t.integer),
    is_more: t.about("Whether more than `count` runs match.", t.boolean),
    ...envelope,
  }),
);
export type RunCount = Static<typeof RunCount>;

export const Approval = resource("Approval", "approval", {
  run_id: RunId,
  id: t.about("Its id: that of the tool call.", t.text),
  ...pendingCall,
  needs: t.about(
    "What it waits for: an output, an approval, or the outcome of an interrupted call.",
    t.oneOf(record.answerableNeeds),
  ),
});
export type Approval = Static<typeof Approval>;

export const counts = told(ModelUsage.properties);
export const Usage = told(record.RunUsage);
export const Divergence = told(record.Divergence);
export const RunError = told(record.RunError);
export const ForkedFrom = told(record.ForkedFrom);

const Replay = t.named(
  "Replay",
  t.object({
    ...told(record.Replay.properties),
    model_calls: t.about("How many model calls were made: always 0, because a replay reads the record.", t.integer),
    tool_calls: t.about("How many tools were called: always 0, for the same reason.", t.integer),
  }),
);

const Timing = t.named(
  "RunTiming",
  t.object({
    worked_ms: t.about("How long the run was in progress, in milliseconds.", t.integer),
    waited_ms: t.about("How long it waited for a person or for the client, or was paused, in milliseconds.", t.integer),
    recorded_ms: t.about(
      "How long the steps took that a fork kept from another run, in milliseconds; null: unknown.",
      t.orNull(t.integer),
    ),
    as_of: t.about("Until when the time is counted: the end of the run, or its newest event.", t.time),
  }),
);

const run = {
  agent_id: AgentId,
  agent_version: t.about("The version of the agent that the run took when it was created, and keeps.", t.integer),
  last_agent_id: t.about(
    "The agent that answers since the newest handoff; absent where there was none.",
    t.optional(t.text),
  ),
  agent_label: t.about("The label by which the request named the agent's version; null: none.", t.orNull(t.text)),
  model: ModelName,
  models: t.about("Its models in their order, where there are several.", t.optional(t.list(t.text))),
  status: t.about(
    "The status: `requires_action` waits for an answer, `paused` for `resume`; `completed`, `failed` and `cancelled` are final.",
    t.oneOf(runStatuses),
  ),
  input: t.about("What the run was asked.", Input),
  output: t.about("The answer; for a failed run, the text up to the failure.", t.orNull(t.text)),
  output_json: t.about("The output as JSON, where the agent has an `output_schema`.", t.anything),
  required_action: t.about("What the run waits for; null while it waits for nothing.", t.orNull(RequiredAction)),
  usage: t.about("Tokens, calls and cost of the run so far, those of runs that it started included.", Usage),
  error: t.about("Why the run failed; null where it did not.", t.orNull(RunError)),
  thread_id: t.about("The thread in which the run takes place; null: none.", t.orNull(t.text)),
  session_id: t.about("The session that it is part of, by a name of your own; null: none.", t.orNull(t.text)),
  user_id: t.about(
    "Whom it is for, by the id that your application gives the user; null: nobody in particular.",
    t.orNull(t.text),
  ),
  file_ids: t.about("Files that the run was given.", t.list(t.text)),
  budget: t.about("What it may spend; null: no budget of its own.", t.orNull(Budget)),
  variables: t.about(
    "Values of the agent's variables, as they were given; absent: none, or the reader has a client token.",
    t.optional(t.withType<VariableValues>(t.map(VariableValue))),
  ),
  trace_id: t.about("The run's trace; null where there is none.", t.orNull(t.text)),
  parent_run_id: t.about("The run whose call of an agent started this one; null for others.", t.orNull(t.text)),
  forked_from: t.about("The run and the step that this run was forked from; null for others.", t.orNull(ForkedFrom)),
  replay_of: t.about("The run that was replayed; null for others.", t.orNull(t.text)),
  origin: t.about(
    "How the run came about: by a request, a schedule or a trigger (`run`), or as a `replay`, `fork` or `import` of another one.",
    t.oneOf(runTriggers),
  ),
  replay: t.about("How the replay went; null for other runs.", t.orNull(Replay)),
  queue_position: t.about("Its place in the queue, from 1; null when it is in none.", t.orNull(t.integer)),
  pause_requested_at: t.about("When its pause was requested, until it goes on; null where none is.", t.orNull(t.time)),
  attempt: t.about("How often the server has started to process the run, from 1.", t.integer),
  started_at: t.about("When it began; null while it has not.", t.orNull(t.time)),
  completed_at: CompletedAt,
  timing: t.about("How its time was spent; null if its trace was deleted before this was recorded.", t.orNull(Timing)),
  expires_at: t.about("When the run times out; null while no timeout applies.", t.orNull(t.time)),
};

const messages = t.about("What the user, the assistant and tools said in the run, the oldest first.", t.list(Message));
const toolCalls = t.about("What tools were called for in the run, in the order of the requests.", t.list(ToolCall));

export const Run = resource("Run", "run", {
  ...run,
  messages,
  tool_calls: toolCalls,
});
export type Run = Static<typeof Run>;

/** A run with fields left out on request. */
export const RunExcerpt = resource("RunExcerpt", "run", {
  ...run,
  messages: t.optional(messages),
  tool_calls: t.optional(toolCalls),
});

/** Messages and tool calls are included on request only. */
export const RunListItem = resource("RunListItem", "run", {
  ...run,
  last_calls: t.about("The kinds of its newest 15 calls, in order.", t.list(t.oneOf(stripTypes))),
  messages: t.optional(messages),
  tool_calls: t.optional(toolCalls),
});
export type RunListItem = Static<typeof RunListItem>;

/** A run, alone or as a list item. */
export type AnyRun = Omit<RunListItem, "last_calls"> & Partial<Pick<RunListItem, "last_calls">>;
