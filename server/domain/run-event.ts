import { type Static, type TObject, type TProperties, Type } from "@sinclair/typebox";
import { about, closedObject, named, oneOf, optional, orNull } from "../lib/schema.ts";
import { guardrailPoints, guardrailTypes, handoffFilters } from "./agent-snapshot.ts";
import { Budget } from "./budget-schema.ts";
import { capsuleLimits } from "./capsule-format.ts";
import { runErrorCodes } from "./errors.ts";
import {
  Count,
  CountOrNull,
  Flag,
  Hash,
  Id,
  index,
  Json,
  Metadata,
  Milliseconds,
  ModelName,
  Money,
  many,
  Short,
  Text,
  Timestamp,
  True,
} from "./fields.ts";
import { limits } from "./limits.ts";
import {
  AssistantPart,
  cacheWrites,
  FinishReason,
  ImageFacts,
  MessageFile,
  ModelUsage,
  PromptMessage,
  RequestAdjustment,
} from "./model-call.ts";
import { ModelPrice } from "./price.ts";
import { inputRoles } from "./run-input.ts";
import { environments } from "./scope.ts";
import { stepTypes } from "./step-kinds.ts";
import type { VariableValues } from "./variable.ts";
import { WorkspaceChange } from "./workspace-schema.ts";

type Of<Fields extends TProperties> = Static<TObject<Fields>>;

const Any = Type.Unknown();
const Step = about("The step's number in the run, from 0.", index(capsuleLimits.steps));
/** -1 is the start. */
const StepOrStart = Type.Integer({ minimum: -1, maximum: capsuleLimits.steps });
const ErrorCode = about("What went wrong, for programs.", Short);
const ErrorMessage = about("What went wrong, for people; it may change.", Text);
const MemoryId = about("Id of the memory store: `mem_…`.", Id);
const Latency = about("How long it took, in milliseconds.", Milliseconds);
const ToolName = about("The name by which the model calls the tool.", Short);
const Attempt = about("The number of the attempt, from 1. It grows with each repetition.", Count);
const Cost = about("What it cost in US dollars; null where that is not known.", Money);
const Estimated = about("Whether the server estimated the tokens, because the provider did not report them.", Flag);
const CostEstimated = about(
  "True if the cost follows a price that is not the model's own: that of its dearest relative, of the dearest hour, or of another service tier.",
  optional(True),
);
const ToolId = about("Id of the tool: `tool_…`; null where it is none of the project's.", orNull(Id));
const Seq = Type.Integer({ minimum: 0, maximum: capsuleLimits.entries });

export const divergenceKinds = ["prompt", "tool_call", "guardrail", "decision", "output"] as const;
export type DivergenceKind = (typeof divergenceKinds)[number];

/** A place where a replay decides differently from the record. */
export const Divergence = named(
  "Divergence",
  closedObject({
    step_index: about("The step that differs.", StepOrStart),
    kind: about(
      "What differs: the prompt, a tool call, a guardrail, a person's decision or the output.",
      oneOf(divergenceKinds),
    ),
    /** SHA-256 of the recorded and of the computed value. */
    expected_hash: about("SHA-256 of what the record has.", Hash),
    actual_hash: about("SHA-256 of what the run did.", Hash),
    message: about("The difference in a sentence, for people.", Text),
    /** Both values, if they are short enough. */
    expected: about("What the record has; absent where it has nothing.", optional(Any)),
    actual: about("What the run did instead; absent where it did nothing.", optional(Any)),
  }),
);
export type Divergence = Static<typeof Divergence>;

export const disconnectPolicies = ["continue", "cancel"] as const;
export const replayModes = ["strict", "verify"] as const;
export const replayAgents = ["pinned", "current"] as const;

export const Replay = closedObject({
  mode: about("Whether the replay stops at the first difference.", oneOf(replayModes)),
  /** The compared agent: the pinned one, or the current one. */
  agent: about("Whether the agent was used as it was, or as it is now.", oneOf(replayAgents)),
  agent_version: about("The version of the agent that the run took when it was created, and keeps.", Count),
  divergences: about("Where the replay differed from the record.", many(Divergence, capsuleLimits.entries)),
  first_divergence: about("The first place where the replay differed; null where it did not.", orNull(Divergence)),
  /** Number of equal steps. */
  matched_steps: about("How many steps matched the record.", Count),
  model_calls: Type.Literal(0),
  tool_calls: Type.Literal(0),
});
export type Replay = Static<typeof Replay>;

/** Usage of a run so far. Null is unknown, 0 is zero; `estimated`: some of it was counted by us. */
export const RunUsage = named(
  "Usage",
  closedObject({
    input_tokens: about(
      "Tokens of the prompts, including those read from or written to a cache; null where they are not known.",
      CountOrNull,
    ),
    output_tokens: about("Tokens of the answers; null where they are not known.", CountOrNull),
    cached_input_tokens: about("Prompt tokens that the provider read from its cache.", CountOrNull),
    reasoning_tokens: about(
      "Tokens that the model used to think, a part of `output_tokens`; null if unknown.",
      CountOrNull,
    ),
    ...cacheWrites,
    total_tokens: about("Tokens of prompts and answers together; null where they are not known.", CountOrNull),
    model_calls: about("How many model calls were made.", Count),
    tool_calls: about("How many tools were called. Calls that were refused and never made do not count.", Count),
    cost_usd: Cost,
    estimated: Estimated,
    cost_estimated: CostEstimated,
  }),
);
export type RunUsage = Static<typeof RunUsage>;

const spend = {
  usage: ModelUsage,
  cost_usd: Cost,
  /** True if the provider sent no counts and we estimated them from the streamed text. */
  estimated: Estimated,
  /** The model that was called, if it is not the run's first. */
  model: about("The model that was called, where it is not the run's first.", optional(ModelName)),
  cost_estimated: CostEstimated,
};
export const ModelSpend = closedObject(spend);
export type ModelSpend = Static<typeof ModelSpend>;

/** Answer of a model call and its timing: enough to resume exactly and to replay at the same speed. */
const ModelAnswer = closedObject({
  ...spend,
  message_id: Id,
  parts: many(AssistantPart),
  /** Flat triples: part, length in UTF-16 code units, milliseconds since the step started. */
  deltas: Type.Array(Milliseconds, { maxItems: 1_000_000 }),
  finish: orNull(FinishReason),
  time_to_first_token_ms: orNull(Milliseconds),
  adjustments: optional(many(RequestAdjustment)),
  /** True if a message of the user ended the answer: its text so far is kept, and its tool calls are not made. */
  interrupted: optional(True),
});
export type ModelAnswer = Static<typeof ModelAnswer>;

export const ToolError = named("Failure", closedObject({ code: ErrorCode, message: ErrorMessage }));
export type ToolError = Static<typeof ToolError>;
const ToolErrorOrNull = about("What went wrong; null where nothing did.", orNull(ToolError));

export const callStatuses = ["completed", "failed", "rejected", "cancelled", "unknown"] as const;
export type CallStatus = (typeof callStatuses)[number];

/** A tool call of another run, with its result. */
const RecordedCall = closedObject({
  tool: Short,
  arguments: Json,
  status: oneOf(callStatuses),
  output: Any,
  error: orNull(ToolError),
  images: optional(many(ImageFacts)),
  workspace: optional(WorkspaceChange),
});
export type RecordedCall = Static<typeof RecordedCall>;

export const callNeeds = ["output", "approval", "reconcile", "elicitation", "authorization"] as const;
export type Needs = (typeof callNeeds)[number];
const Needs = oneOf(callNeeds);
/** Needs that clients or people settle by submitting an answer. */
export const answerableNeeds = ["output", "approval", "reconcile", "elicitation"] as const satisfies Needs[];
export type AnswerableNeeds = (typeof answerableNeeds)[number];
const waitsFor =
  "What it waits for: an output, an approval, the outcome of an interrupted call, an answer to a question of its server, or a user's consent.";

/** Decisions of people on a waiting call. */
export const decisions = ["approve", "reject"] as const;
export type Decision = (typeof decisions)[number];

/** The account whose use a user has to allow. Never an address: that is made for each reader. */
export const CallAuthorization = named(
  "CallAuthorization",
  closedObject({
    oauth_client_id: about("The OAuth client that lacks the user's consent.", Id),
    name: about("The name of the OAuth client.", Short),
    user_id: about("The user whose consent is missing; null: the project's.", orNull(Short)),
  }),
);
export type CallAuthorization = Static<typeof CallAuthorization>;
export const elicitationModes = ["form", "url"] as const;

/** A question of an MCP server to the user, asked during a call. */
export const Elicitation = named(
  "Elicitation",
  closedObject({
    id: about("The id of the question: `elc_…`. The answer names it.", Id),
    mode: about("Whether the user fills in a form, or opens an address.", oneOf(elicitationModes)),
    message: about("What the MCP server asks, for people.", Text),
    requested_schema: about("The JSON Schema of the answer, an object; absent for an address.", optional(Json)),
    url: about("The address that the user is asked to open; absent for a form.", optional(Text)),
    before_call: about(
      "True if the server refused the call until the question is answered: it is made again then. Absent otherwise.",
      optional(True),
    ),
  }),
);
export type Elicitation = Static<typeof Elicitation>;

/** Levels of the log messages of MCP servers, as in RFC 5424. */
export const logLevels = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] as const;

export const elicitationActions = ["accept", "decline", "cancel"] as const;

/** The user's answer to a question of an MCP server. */
const ElicitationAnswer = closedObject({
  id: about("The id of the question that is answered: `elc_…`.", Id),
  action: about("Whether the user accepted, declined or dismissed the question.", oneOf(elicitationActions)),
  content: about("What the user filled in; absent where there is nothing.", optional(Json)),
});
export type ElicitationAnswer = Static<typeof ElicitationAnswer>;

const ToolRequest = closedObject({
  id: about("The id of the call, the same in all of its events.", Id),
  step_index: Step,
  turn_index: Step,
  tool_id: ToolId,
  tool: ToolName,
  type: Short,
  arguments: Json,
  needs: about(waitsFor, orNull(Needs)),
  /** For `needs: "authorization"`. */
  authorization: optional(CallAuthorization),
  elicitation: about(
    "The question that the user is asked; absent where it waits for something else.",
    optional(Elicitation),
  ),
  /** Index of its result in `recorded` of `run.created`; -1: there is none, and the call is not run either. */
  recorded: optional(StepOrStart),
});
export type ToolRequest = Static<typeof ToolRequest>;

/** The decider on a call: a key, or a person at the dashboard. */
export const Decider = named(
  "Decider",
  closedObject({
    type: about("Whether a key or a person decided.", Short),
    id: about("The id of that key or person; null if unknown.", orNull(Short)),
  }),
);
export type Decider = Static<typeof Decider>;

export const RequiredCall = closedObject({
  id: about("The id of the call, under which its output is submitted.", Id),
  tool_id: ToolId,
  tool: ToolName,
  arguments: about("What the model gave the call, by the names of the tool's `parameters`.", Json),
  needs: about(waitsFor, Needs),
  elicitation: about(
    "The question that the user is asked; absent where it waits for something else.",
    optional(Elicitation),
  ),
  expires_at: Timestamp,
  /** For `needs: "authorization"`. */
  authorization: about(
    "The account whose use the user has to allow; absent for other calls.",
    optional(CallAuthorization),
  ),
  /** The child run that made this call; absent for the run's own calls. */
  run_id: about("The run that waits, where it was started by a call of an agent.", optional(Id)),
});
export type RequiredCall = Static<typeof RequiredCall>;

export const RequiredAction = closedObject({
  type: Type.Literal("submit_tool_outputs"),
  submit_tool_outputs: closedObject({ tool_calls: many(RequiredCall) }),
});
export type RequiredAction = Static<typeof RequiredAction>;

/** A file that a tool made. Its content is already stored under `sha256`. */
export const FileFacts = named(
  "FileReference",
  closedObject({
    id: about("The file's id: `file_…`, for `GET /v1/files/:id/content`.", Id),
    filename: about("The name under which the file is stored.", Short),
    mime_type: about("Media type of the content, such as `application/pdf`.", Short),
    bytes: about("Its length in bytes.", Count),
    sha256: about("SHA-256 of the content.", Hash),
  }),
);
export type FileFacts = Static<typeof FileFacts>;

/** A guardrail of the agent, and the text that it checked. */
export const GuardrailPlace = named(
  "GuardrailPlace",
  closedObject({
    index: about("Place of the rule in the agent's `guardrails`, from 0.", Count),
    type: about("What the rule looks for.", oneOf(guardrailTypes)),
    on: about("Where the rule is applied.", oneOf(guardrailPoints)),
  }),
);

export const RunError = named(
  "RunError",
  closedObject({
    type: about("Always `run_error`.", Type.Literal("run_error")),
    code: about("Why the run failed, for programs.", oneOf(runErrorCodes)),
    message: about("Why the run failed, for people; it may change.", Text),
    step_index: about("The step that failed; null where it was none.", orNull(StepOrStart)),
    retryable: about("Whether a retry may succeed.", Flag),
    /** For `guardrail_blocked`. */
    guardrail: about("The rule that blocked the run; absent for other codes.", optional(GuardrailPlace)),
    /** For `replay_diverged`. */
    divergence: about("Where the replay differed from the record.", optional(Divergence)),
  }),
);
export type RunError = Static<typeof RunError>;

/** A label of an agent, as a run pins it. */
const RunLabel = closedObject({
  id: about("Id of the label: `lbl_…`.", Id),
  name: about("The label's name.", Short),
  revision: about("How often the label had been moved.", Count),
});
export type RunLabel = Static<typeof RunLabel>;

/** A file of a run for its model. */
const attached = {
  file_id: about("Id of the file that was given: `file_…`.", Id),
  filename: about("The name under which the file is stored.", Short),
  mime_type: about("Media type of the content, such as `application/pdf`.", Short),
  sha256: about("SHA-256 of the content.", Hash),
  /** True if the image itself is sent to the model; its bytes are fetched for each request. */
  image: about("True for a picture, which the model sees as such and not as text.", Flag),
  note: about("Why the model did not receive the whole file; null if it did.", orNull(Text)),
  /** True if the PDF itself is sent to models that read PDFs; `text` is for the others. */
  native: about("Whether the model received the PDF itself instead of its text.", optional(True)),
  pages: about("How many pages the PDF has, estimated if unknown.", optional(Count)),
  page_images: about("How many of its first pages the model sees as images, beside the text.", optional(Count)),
};
/** For clients, without the text. */
export const DocumentFacts = named(
  "AttachedDocument",
  closedObject({ ...attached, length: about("How many bytes of it the model received; null if none.", CountOrNull) }),
);
/** `text` is null for images and for unreadable files (`note` has the reason). */
const AttachedDocument = closedObject({ ...attached, text: orNull(Text) });
export type AttachedDocument = Static<typeof AttachedDocument>;

export const RetrievedPassage = named(
  "RetrievedPassage",
  closedObject({
    memory_id: MemoryId,
    entry_id: about("Id of the entry of the store that has the passage: `ment_…`.", Id),
    text: about("The passage that was found, as the model read it.", Text),
    score: about("How well it fits the query, from 0 to 1; the best has the highest.", Type.Number()),
    file_id: about("The document that the passage was found in: `file_…`; null for a stored text.", orNull(Id)),
    filename: about("The name of that file, for a citation; null for a text.", orNull(Short)),
    chunk_index: about("The number of the chunk, from 0.", Count),
    page: about("The page of the document; null where it has none.", CountOrNull),
    heading: about("The heading above the text; null where there is none.", orNull(Text)),
  }),
);
export type RetrievedPassage = Static<typeof RetrievedPassage>;

export const StoreFailure = named(
  "StoreFailure",
  closedObject({
    memory_id: MemoryId,
    code: ErrorCode,
    message: ErrorMessage,
  }),
);

/** A store that was searched by words only, because its embedding model failed. */
export const StoreDegradation = named(
  "StoreDegradation",
  closedObject({ memory_id: MemoryId, error: about("Why the store could not be searched by meaning.", ToolError) }),
);

/** Result of reranking a store's passages; `error` if they kept their order. */
export const StoreRerank = named(
  "StoreRerank",
  closedObject({
    memory_id: MemoryId,
    reranked: about("Whether a model reranked the results.", Flag),
    error: ToolErrorOrNull,
  }),
);

/** A further model of a run, asked if those before it cannot answer. */
export const FallbackModel = closedObject({
  model: ModelName,
  price: orNull(ModelPrice),
  context_window: CountOrNull,
});
export type FallbackModel = Static<typeof FallbackModel>;

/** Models of an agent that may go on with the run, in their order. */
export const TeamModels = closedObject({ agent_id: Id, models: many(FallbackModel, 100) });

/** Part of the conversation that goes along with a handoff. */
export const HandoffFilter = Type.Union([oneOf(handoffFilters), closedObject({ messages: Count })]);

/** Each ends with its own event: `history.loaded`, `documents.attached`, `memory.retrieved`. */
const preparations = ["history", "documents", "retrieval"] as const;
export type Preparation = (typeof preparations)[number];

const step = { step_index: Step, step_type: oneOf(stepTypes) };

export const guardrailVerdicts = ["passed", "flagged", "redacted", "approval_required", "blocked"] as const;
export type GuardrailVerdict = (typeof guardrailVerdicts)[number];

export const ForkedFrom = named(
  "ForkPoint",
  closedObject({
    run_id: about("The run whose first steps were taken over: `run_…`.", Id),
    step_index: about("The last step that was kept of that run, from 0; -1: its start.", StepOrStart),
  }),
);

/** Content of a message beside its text. */
const media = {
  images: optional(many(ImageFacts, limits.files_per_run)),
  audio: optional(many(ImageFacts, limits.files_per_run)),
  files: optional(many(MessageFile, limits.files_per_run)),
};

/** Read as data: texts are never templates, and names never more than own properties. */
const Variables = Type.Unsafe<VariableValues>(Json);
/** Finding of a guardrail in a message that came while the run was under way. */
const SteeredFinding = closedObject({
  guardrail: GuardrailPlace,
  verdict: oneOf(guardrailVerdicts),
  message: ErrorMessage,
  matches: Count,
});

/** A message without what a guardrail took out of it. */
const MaskedMessage = closedObject({
  message_id: Id,
  content: Text,
  tool_calls: optional(many(closedObject({ id: Id, name: Short, arguments: Json }))),
});

/** A message that no run here produced. A tool message names its call, which an earlier assistant message requested. */
const EarlierMessage = closedObject({
  id: Id,
  role: oneOf(inputRoles),
  content: Text,
  ...media,
  tool_calls: optional(many(closedObject({ id: Id, name: Short, arguments: Json }))),
  tool_call_id: optional(Id),
  tool: optional(Short),
  is_error: optional(True),
});

/**
 * Events of a run, in order. The journal stores these; everything else folds them. Shapes are permanent: fields may be
 * added, never renamed or removed (tested by the corpus in __fixtures__).
 */
export const eventFields = {
  /** Everything that a run pins when it starts. `agent_hash` names the blob with the whole `AgentSnapshot`. */
  "run.created": {
    run_id: Id,
    project_id: Id,
    environment: oneOf(environments),
    agent_id: Id,
    agent_version: Count,
    /** The label that the request named, and which of its revisions chose the version. */
    label: optional(RunLabel),
    agent_hash: Hash,
    model: ModelName,
    input: Text,
    message_id: Id,
    /** Images, recordings and documents of the user's input. Documents are among `file_ids` too. */
    ...media,
    /** Messages sent along before the input; an empty list if the input was a single message. */
    earlier: optional(many(EarlierMessage, limits.input_messages)),
    max_turns: Count,
    timeout_ms: Count,
    action_timeout_ms: Count,
    on_disconnect: oneOf(disconnectPolicies),
    thread_id: orNull(Short),
    session_id: orNull(Short),
    user_id: orNull(Short),
    file_ids: many(Id, 100),
    parent_run_id: orNull(Id),
    /** The parent's call that this run answers. */
    parent_call_id: optional(Id),
    /** Number of ancestors. */
    depth: optional(Type.Integer({ minimum: 0, maximum: 100 })),
    /** Budget: the tightest of its agent's, its own and, for a child, its share of its parent's. */
    budget: optional(orNull(Budget)),
    /** Price of its model; null if unknown. Absent in older runs, which used their version's built-in price. */
    price: optional(orNull(ModelPrice)),
    metadata: Metadata,
    /** Values of the agent's variables, as the run was given them. */
    variables: optional(Variables),
    request_id: orNull(Short),
    /** The API key of its request, also through a client token; absent if a person or a schedule started it. */
    api_key_id: optional(Id),
    /** The run whose record begins this one, up to `recorded_to`; its cost is not counted again. */
    forked_from: optional(ForkedFrom),
    replay_of: optional(Id),
    /** Result of a replay, known before its first entry is written. */
    replay: optional(Replay),
    /** True for an imported trace: nothing of it happened here. */
    imported: optional(True),
    /** True for a fork of an imported trace with its pinned agent, whose tools cannot be run here. */
    foreign_agent: optional(True),
    /** `seq` of the last entry that was copied. */
    recorded_to: optional(Seq),
    /** Duration of the copied steps. Absent in older forks. */
    recorded_ms: optional(Milliseconds),
    /** In a copy of a fork: the last `seq` of the fork's source run, which used another agent. */
    forked_to: optional(Seq),
    /** Results of the source run's later calls, for equal calls of this run. */
    recorded: optional(
      closedObject({
        mode: oneOf(["recorded_then_live", "recorded_only"]),
        calls: many(RecordedCall, capsuleLimits.steps),
      }),
    ),
    /** Steps before the first model call, in order. */
    prepare: optional(many(oneOf(preparations), 3)),
    /** Tokens of its model's prompt and answer together; null if unknown. */
    context_window: optional(CountOrNull),
    /** Its further models, in their order. */
    fallbacks: optional(many(FallbackModel, limits.models_per_agent - 1)),
    /** Models of the agents that it can reach by handoffs. */
    team: optional(many(TeamModels, limits.agents_per_team)),
    /** True if the next entry is `run.queued`. Absent: the run started at once. */
    queued: optional(True),
  },
  "run.queued": { queue_position: Count },
  "run.started": {},
  "run.requires_action": { required_action: RequiredAction },
  "run.resumed": {},
  /** The run pauses before its next step; what is in progress ends first. */
  "run.pause_requested": { reason: orNull(Text) },
  "run.paused": {},
  /** The request is withdrawn before the pause began. */
  "run.pause_cancelled": {},
  /** A message of the user while the run was under way. The next model call has it. */
  "run.steered": {
    message_id: about("The id of the message, as the run's `messages` have it: `msg_…`.", Id),
    content: about("What the user said meanwhile.", Text),
    ...media,
    /** True if it ends the model call that is open. */
    interrupt: about("Whether it ended the model call that was open.", optional(True)),
    /** Findings of guardrails in its text; each becomes a decision before the next model call. */
    findings: optional(many(SteeredFinding)),
    by: about("The key or the person that sent it; absent where it is not known.", optional(Decider)),
  },
  "run.recovered": {
    attempt: Attempt,
    step_index: about("The step's number in the run, from 0.", orNull(Step)),
    clean: optional(Flag),
  },
  "run.completed": { output: orNull(Text), output_json: Any, usage: RunUsage },
  "run.failed": { error: RunError, output: orNull(Text), usage: RunUsage },
  "run.cancelled": { reason: orNull(Text), output: orNull(Text), usage: RunUsage },
  "step.started": {
    step_id: Id,
    ...step,
    turn_index: Step,
    name: about("What is called, such as the model or the tool.", Short),
    attempt: Attempt,
    tool_call_id: orNull(Id),
    /** SHA-256 of the input (prompt, tools and settings; or tool and arguments). */
    input_hash: orNull(Hash),
    /** Of a model call with deferred tools: those that are loaded, in the order in which they were. */
    tools_loaded: optional(many(Short, limits.tools_per_agent)),
  },
  "step.restarted": {
    ...step,
    attempt: Attempt,
    /** `seq` of the start that this one replaces, whose deltas are void. */
    discards: about("The event that began the step. Discard what came after it.", Seq),
    reason: about("Why the attempt before it failed; null where it is not known.", orNull(ToolError)),
    /** Delay before the new attempt. */
    delay_ms: about("How long the server waited before this attempt, in milliseconds.", Milliseconds),
    /** Cost of the discarded attempt; null if nothing was counted. */
    spent: orNull(ModelSpend),
    /** Text of the discarded attempt: the run's output if it ends without further text. */
    said: optional(Text),
    /** The model of this and all later calls, if it changes. */
    model: about("The model that is asked now, where it is another one than before.", optional(ModelName)),
  },
  "step.completed": {
    ...step,
    status: about("How the step ended.", oneOf(["completed", "failed", "cancelled"])),
    latency_ms: Latency,
    error: about(
      "What went wrong; null where nothing did.",
      orNull(
        named(
          "StepFailure",
          closedObject({
            code: ErrorCode,
            message: ErrorMessage,
            retryable: about("Whether a retry may succeed.", Flag),
          }),
        ),
      ),
    ),
    /** For a model call, else null. */
    answer: orNull(ModelAnswer),
  },
  "tool.requested": { call: ToolRequest },
  /** A person's decision on a call: run it (again), perhaps with other arguments. A rejection is a `tool.completed`. */
  "tool.decided": {
    tool_call_id: about("Id of the call, the same in all of its events.", Id),
    decision: about("What was decided, or that a question was answered.", oneOf([...decisions, "answer"])),
    reason: about("What the person gave as the reason; null where nothing was given.", orNull(Text)),
    /** For `answer`. */
    elicitation: about("The answer to a question of an MCP server; absent for decisions.", optional(ElicitationAnswer)),
    /** Edited arguments, else null. */
    arguments: orNull(Json),
    by: optional(Decider),
    /** Remaining need of the call: an approved client tool still needs its output. */
    needs: about(waitsFor, orNull(Needs)),
  },
  /** The user gave the consent that the call waited for: it is made now. */
  "tool.authorized": { tool_call_id: about("Id of the call, the same in all of its events.", Id) },
  /** Word of a call that is under way, from its MCP server. Bounded in number and size; nothing is decided by it. */
  "tool.progress": {
    tool_call_id: about("Id of the call, the same in all of its events.", Id),
    step_index: Step,
    progress: about("How far the call is; it never decreases. Null for a log message.", orNull(Type.Number())),
    total: about("How far it goes; null where that is not known.", orNull(Type.Number())),
    message: about("What the server says about it, for people; null where it says nothing.", orNull(Text)),
    level: about("The level of a log message; null for progress.", orNull(oneOf(logLevels))),
  },
  "tool.completed": {
    tool_call_id: about("Id of the call, the same in all of its events.", Id),
    step_index: Step,
    tool: ToolName,
    status: about("How the call ended; `unknown`: it was interrupted, and may have taken place.", oneOf(callStatuses)),
    output: Any,
    error: ToolErrorOrNull,
    latency_ms: Latency,
    attempts: Count,
    message_id: Id,
    /** True if it was copied from the source run of a fork. */
    recorded: optional(True),
    /** True if the call was never made: it could not run, or was rejected. It does not count. */
    refused: optional(True),
    /** True if the client submitted it by `submit_tool_outputs`. */
    submitted: Flag,
    /** The person or key that rejected it. */
    by: optional(Decider),
    /** Files of the call, created in the transaction of this event. */
    files: about("Files that the call made; absent if it made none.", optional(many(FileFacts))),
    /** Pictures that the model is shown with the result. Absent in older runs, whose models saw none. */
    images: about("Pictures of the result that the model was shown.", optional(many(ImageFacts))),
    /** Cost of a child run, or of models that a search used. Counted there and for this run too. */
    usage: optional(RunUsage),
    /** For a program that shares its folder with others. */
    workspace: about("What a program changed in the folder that it shares with others.", optional(WorkspaceChange)),
  },
  "subagent.started": { tool_call_id: Id, run_id: Id, agent_id: Id },
  "subagent.waiting": { tool_call_id: Id, calls: many(RequiredCall) },
  "subagent.resumed": { tool_call_id: Id },
  /** A call of a handoff: from here on the other agent answers. */
  "handoff.completed": {
    tool_call_id: about("Id of the call, the same in all of its events.", Id),
    from_agent_id: about("The agent that handed the conversation over.", Id),
    from_name: Short,
    agent_id: about("The agent that goes on with the conversation.", Id),
    agent_name: about("What the agent that goes on is called.", Short),
    agent_version: Count,
    filter: HandoffFilter,
    reason: about("Why, as the model says; null where it says nothing.", orNull(Text)),
    /** Model calls of the run from here on, and before. */
    max_turns: Count,
    /** Budget of the run from now on; absent if it stays. */
    budget: optional(Budget),
    /** Input as the guardrails of the other agent left it; absent if it stays. */
    input: optional(Text),
    /** Messages of the run that these guardrails changed, as they left them; absent if all stay. */
    messages: optional(many(MaskedMessage)),
    /** Steps before the other agent's first model call. */
    prepare: optional(many(oneOf(preparations), 3)),
  },
  /** Decision of a guardrail, a step of its own. Never contains the text. */
  "guardrail.decided": {
    step_id: Id,
    step_index: Step,
    turn_index: Step,
    guardrail: about("Which rule of the agent decided.", GuardrailPlace),
    verdict: about(
      "What the rule decided: whether the text may pass, is changed, needs a person, or ends the run.",
      oneOf(guardrailVerdicts),
    ),
    /** The call, for `tool_call` and `tool_output`. */
    tool_call_id: about("Id of the call whose arguments or result were checked; null for other texts.", orNull(Id)),
    /** The message that came while the run was under way; absent for the run's input. */
    message_id: optional(Id),
    message: ErrorMessage,
    /** Number of matches. */
    matches: about("In how many places of the text the rule found something.", Count),
    latency_ms: Latency,
    /** Cost of a judge, else null. */
    spent: orNull(ModelSpend),
  },
  "output.rejected": { message_id: Id, content: Text },
  "history.loaded": { messages: many(PromptMessage) },
  "documents.attached": { documents: many(AttachedDocument, 100) },
  /** Result of searching the agent's stores; ends a `retrieval` step. */
  "memory.retrieved": {
    step_index: Step,
    query: about("The words that the stores were searched with: the run's input.", Text),
    /** Searched stores. */
    stores: many(closedObject({ memory_id: Id, name: Short })),
    /** Best first. */
    matches: about("The passages that were found, the best first.", many(RetrievedPassage)),
    /** Stores that could not be searched: the run continues without them and tells the model. */
    failures: about("Stores that could not be searched, and why.", many(StoreFailure)),
    /** Results of reranking; absent if no store has a reranker. */
    reranks: about("For stores with reranking: whether it was done, or why not.", optional(many(StoreRerank))),
    /** Absent if every store was searched by meaning too. */
    degradations: about("Stores that were searched by keywords only, and why.", optional(many(StoreDegradation))),
    /** Usage of the operator's models in the search, for vectors or reranking. Counted there too. */
    usage: optional(RunUsage),
    latency_ms: Latency,
  },
  /** The prompt was too long for the model; ends a `compaction` step. */
  "context.compacted": {
    step_index: Step,
    strategy: about(
      "`compact`: a summary stands for the earlier messages. `truncate`: they are left out.",
      oneOf(["compact", "truncate"]),
    ),
    /** Summary of the messages left out; null if there is none. */
    summary: orNull(Text),
    /**
     * Number of messages of the whole conversation (history and run, as `conversation` counts them) that are no longer
     * sent.
     */
    left_out: about("How many of the earlier messages the model no longer reads.", Count),
    /** Estimated prompt sizes before and after. */
    tokens_before: about("How long the prompt was, in tokens.", Count),
    tokens_after: about("How long the prompt is now, in tokens.", Count),
    /** Maximal bytes of each tool result from now on; absent if the agent's own limit stays. */
    tool_output_max_bytes: optional(Count),
    latency_ms: Latency,
    /** Cost of the summary; null if there is none. */
    spent: orNull(ModelSpend),
  },
};

type Fields = typeof eventFields;
export type RunEventType = keyof Fields;
type EventOf<T extends RunEventType> = Of<Fields[T]>;
export type RunEvent = { [T in RunEventType]: { type: T } & EventOf<T> }[RunEventType];

/** True if the event ends the run. */
export const endsRun = (event: RunEvent): event is Extract<RunEvent, { type: RunEnd }> => runEnds.has(event.type);

/** True if a request to a run under way added the event, and not its loop. */
export const isRequest = ({ type }: RunEvent): boolean => requests.has(type);
const requests: ReadonlySet<string> = new Set<RunEventType>([
  "run.steered",
  "run.pause_requested",
  "run.pause_cancelled",
]);

/** True if the event starts a model call. */
export const beginsModelCall = (
  event: RunEvent,
): event is Extract<RunEvent, { type: "step.started" | "step.restarted" }> =>
  (event.type === "step.started" || event.type === "step.restarted") && event.step_type === "model_call";

type RunEnd = "run.completed" | "run.failed" | "run.cancelled";
const runEnds: ReadonlySet<string> = new Set<RunEnd>(["run.completed", "run.failed", "run.cancelled"]);

export type RunCreated = EventOf<"run.created">;
/** Returns the event that begins a journal. */
export function createdEvent([first]: readonly JournalEntry[]): { type: "run.created" } & RunCreated {
  if (first?.event.type !== "run.created") throw new Error("A journal begins with run.created.");
  return first.event;
}

export type RunSteered = EventOf<"run.steered">;
export type StepStarted = EventOf<"step.started">;
export type StepRestarted = EventOf<"step.restarted">;
export type StepCompleted = EventOf<"step.completed">;
export type ToolProgress = EventOf<"tool.progress">;
export type ToolCompleted = EventOf<"tool.completed">;
export type GuardrailDecided = EventOf<"guardrail.decided">;
export type HandoffCompleted = EventOf<"handoff.completed">;
export type MemoryRetrieved = EventOf<"memory.retrieved">;
export type ContextCompacted = EventOf<"context.compacted">;

/** A journaled event. `seq` counts from 1 without gaps; `at` is milliseconds since 1970. */
export interface JournalEntry {
  seq: number;
  at: number;
  event: RunEvent;
}
