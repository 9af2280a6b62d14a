import { type Static, type TObject, type TProperties, Type } from "@sinclair/typebox";
import { exact, named, oneOf, optional, orNull } from "../lib/schema.ts";
import { guardrailPoints, guardrailTypes } from "./agent-snapshot.ts";
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
import { AssistantPart, FinishReason, ImageFacts, ModelUsage, PromptMessage } from "./model-call.ts";
import { ModelPrice } from "./price.ts";
import { inputRoles } from "./run-input.ts";
import { environments } from "./scope.ts";
import { stepTypes } from "./step-kinds.ts";

type Of<Fields extends TProperties> = Static<TObject<Fields>>;

const Any = Type.Unknown();
const Step = index(capsuleLimits.steps);
/** -1 is the start. */
const StepOrStart = Type.Integer({ minimum: -1, maximum: capsuleLimits.steps });
const Seq = Type.Integer({ minimum: 0, maximum: capsuleLimits.entries });

export const divergenceKinds = ["prompt", "tool_call", "guardrail", "decision", "output"] as const;
export type DivergenceKind = (typeof divergenceKinds)[number];

/** A place where the loop, given what the record gave it, does not do what the record says. */
export const Divergence = named(
  "Divergence",
  exact({
    step_index: StepOrStart,
    kind: oneOf(divergenceKinds),
    /** SHA-256 of what stands in the record, and of what comes now. */
    expected_hash: Hash,
    actual_hash: Hash,
    message: Text,
    /** Both, where they are short enough to be read. */
    expected: optional(Any),
    actual: optional(Any),
  }),
);
export type Divergence = Static<typeof Divergence>;

export const replayModes = ["strict", "verify"] as const;
export const replayAgents = ["pinned", "current"] as const;

export const Replay = exact({
  mode: oneOf(replayModes),
  /** Which agent the record was held against: the one that it has pinned, or the one that there is now. */
  agent: oneOf(replayAgents),
  agent_version: Count,
  divergences: many(Divergence, capsuleLimits.entries),
  first_divergence: orNull(Divergence),
  /** Steps of the record that came out the same. */
  matched_steps: Count,
  model_calls: Type.Literal(0),
  tool_calls: Type.Literal(0),
});
export type Replay = Static<typeof Replay>;

/** What a run cost so far. Null is unknown, 0 is zero; `estimated` says that some of it was counted by us. */
export const RunUsage = named(
  "Usage",
  exact({
    input_tokens: CountOrNull,
    output_tokens: CountOrNull,
    cached_input_tokens: CountOrNull,
    reasoning_tokens: CountOrNull,
    total_tokens: CountOrNull,
    model_calls: Count,
    tool_calls: Count,
    cost_usd: Money,
    estimated: Flag,
  }),
);
export type RunUsage = Static<typeof RunUsage>;

const spend = {
  usage: ModelUsage,
  cost_usd: Money,
  /** True when the provider did not say and we counted what was streamed. */
  estimated: Flag,
};
export const ModelSpend = exact(spend);
export type ModelSpend = Static<typeof ModelSpend>;

/** What a model call said, whole, with how it arrived: enough for an exact resume and a replay at the same speed. */
const ModelAnswer = exact({
  ...spend,
  message_id: Id,
  parts: many(AssistantPart),
  /** Flat triples: part, length in UTF-16 code units, milliseconds since the step started. */
  deltas: Type.Array(Milliseconds, { maxItems: 1_000_000 }),
  finish: orNull(FinishReason),
  time_to_first_token_ms: orNull(Milliseconds),
});
export type ModelAnswer = Static<typeof ModelAnswer>;

export const ToolError = named("Failure", exact({ code: Short, message: Text }));
export type ToolError = Static<typeof ToolError>;

export const callStatuses = ["completed", "failed", "rejected", "cancelled", "unknown"] as const;

/** A tool call of another run, by what it asked, and what it came to. */
const RecordedCall = exact({
  tool: Short,
  arguments: Json,
  status: oneOf(callStatuses),
  output: Any,
  error: orNull(ToolError),
});
export type RecordedCall = Static<typeof RecordedCall>;

export const callNeeds = ["output", "approval", "reconcile"] as const;
export type Needs = (typeof callNeeds)[number];
const Needs = oneOf(callNeeds);

const ToolRequest = exact({
  id: Id,
  step_index: Step,
  turn_index: Step,
  tool_id: orNull(Id),
  tool: Short,
  type: Short,
  arguments: Json,
  needs: orNull(Needs),
  /** Which result of `run.created`'s `recorded` answers it; -1: there is none, and it is not run either. */
  recorded: optional(StepOrStart),
});
export type ToolRequest = Static<typeof ToolRequest>;

/** Who decided on a call: the key, or the person at the dashboard. */
export const Decider = named("Decider", exact({ type: Short, id: orNull(Short) }));
export type Decider = Static<typeof Decider>;

export const RequiredCall = exact({
  id: Id,
  tool_id: orNull(Id),
  tool: Short,
  arguments: Json,
  needs: Needs,
  expires_at: Timestamp,
  /** The child run whose call this is; absent for the run's own. */
  run_id: optional(Id),
});
export type RequiredCall = Static<typeof RequiredCall>;

export const RequiredAction = exact({
  type: Type.Literal("submit_tool_outputs"),
  submit_tool_outputs: exact({ tool_calls: many(RequiredCall) }),
});
export type RequiredAction = Static<typeof RequiredAction>;

/** A file that a tool made. Its content is kept under `sha256` already. */
export const FileFacts = named(
  "FileReference",
  exact({ id: Id, filename: Short, mime_type: Short, bytes: Count, sha256: Hash }),
);
export type FileFacts = Static<typeof FileFacts>;

/** Which of an agent's guardrails, and what it looked at. */
export const GuardrailPlace = named(
  "GuardrailPlace",
  exact({ index: Count, type: oneOf(guardrailTypes), on: oneOf(guardrailPoints) }),
);

export const RunError = named(
  "RunError",
  exact({
    type: Type.Literal("run_error"),
    code: oneOf(runErrorCodes),
    message: Text,
    step_index: orNull(StepOrStart),
    retryable: Flag,
    /** For `guardrail_blocked`. */
    guardrail: optional(GuardrailPlace),
    /** For `replay_diverged`: where. */
    divergence: optional(Divergence),
  }),
);
export type RunError = Static<typeof RunError>;

/** A file of the run as its model gets it. */
const about = {
  file_id: Id,
  filename: Short,
  mime_type: Short,
  sha256: Hash,
  /** The image itself goes to the model; its bytes are fetched when the request is made. */
  image: Flag,
  note: orNull(Text),
};
/** As others see it: without its text. */
export const DocumentFacts = named("AttachedDocument", exact({ ...about, length: CountOrNull }));
/** `text` is null for an image, and for what could not be read (`note` says why). */
const AttachedDocument = exact({ ...about, text: orNull(Text) });
export type AttachedDocument = Static<typeof AttachedDocument>;

export const RetrievedPassage = named(
  "RetrievedPassage",
  exact({
    memory_id: Id,
    entry_id: Id,
    text: Text,
    score: Type.Number(),
    file_id: orNull(Id),
    filename: orNull(Short),
    chunk_index: Count,
    page: CountOrNull,
    heading: orNull(Text),
  }),
);
export type RetrievedPassage = Static<typeof RetrievedPassage>;

export const StoreFailure = named("StoreFailure", exact({ memory_id: Id, code: Short, message: Text }));

/** A store that was searched by words alone, since its model could not be asked. */
export const StoreDegradation = named("StoreDegradation", exact({ memory_id: Id, error: ToolError }));

/** Whether a store's passages were ranked anew, and why they stay as they were found. */
export const StoreRerank = named("StoreRerank", exact({ memory_id: Id, reranked: Flag, error: orNull(ToolError) }));

/** Each ends with its own event: `history.loaded`, `documents.attached`, `memory.retrieved`. */
const preparations = ["history", "documents", "retrieval"] as const;
export type Preparation = (typeof preparations)[number];

const step = { step_index: Step, step_type: oneOf(stepTypes) };

export const guardrailVerdicts = ["passed", "flagged", "redacted", "approval_required", "blocked"] as const;
export type GuardrailVerdict = (typeof guardrailVerdicts)[number];

export const ForkedFrom = named("ForkPoint", exact({ run_id: Id, step_index: StepOrStart }));

/** A message that no run of here said. A tool's names its call, which one of the assistant's asked for. */
const EarlierMessage = exact({
  id: Id,
  role: oneOf(inputRoles),
  content: Text,
  images: optional(many(ImageFacts, limits.files_per_run)),
  tool_calls: optional(many(exact({ id: Id, name: Short, arguments: Json }))),
  tool_call_id: optional(Id),
  tool: optional(Short),
  is_error: optional(True),
});

/**
 * What happens to a run, in the order in which it happened. The journal stores these, everything else folds them.
 * Shapes are for ever: fields may be added, never renamed or removed (the corpus in __fixtures__ holds us to it).
 */
export const eventFields = {
  /** All that a run pins when it starts. `agent_hash` names the blob with the whole `AgentSnapshot`. */
  "run.created": {
    run_id: Id,
    project_id: Id,
    environment: oneOf(environments),
    agent_id: Id,
    agent_version: Count,
    agent_hash: Hash,
    model: ModelName,
    input: Text,
    message_id: Id,
    /** What the user shows beside the input. */
    images: optional(many(ImageFacts, limits.files_per_run)),
    /** Messages that came along with the input, before it; there also when there were none beside it. */
    earlier: optional(many(EarlierMessage, limits.input_messages)),
    max_turns: Count,
    timeout_ms: Count,
    action_timeout_ms: Count,
    on_disconnect: oneOf(["continue", "cancel"]),
    thread_id: orNull(Short),
    session_id: orNull(Short),
    user_id: orNull(Short),
    file_ids: many(Id, 100),
    parent_run_id: orNull(Id),
    /** The call of the parent that this run answers. */
    parent_call_id: optional(Id),
    /** How many parents there are above it. */
    depth: optional(Type.Integer({ minimum: 0, maximum: 100 })),
    /** What it may spend: the tightest of its agent's, its own and, for a child, what its parent gave it. */
    budget: optional(orNull(Budget)),
    /** What its model costs; null when nobody knows. Older runs have none: the price that came along was theirs. */
    price: optional(orNull(ModelPrice)),
    metadata: Metadata,
    request_id: orNull(Short),
    /** The API key that asked for it, also through a client token; nobody's where a person or a schedule did. */
    api_key_id: optional(Id),
    /** The run whose record stands at the beginning of this one, up to `recorded_to`; it is not paid for again. */
    forked_from: optional(ForkedFrom),
    replay_of: optional(Id),
    /** What a replay came to: it is known before its first entry is written. */
    replay: optional(Replay),
    /** True for a trace that came from elsewhere: nothing of it happened here. */
    imported: optional(True),
    /** True for a fork of such a trace, with the agent that it has pinned: its tools are not there to be run. */
    foreign_agent: optional(True),
    /** `seq` of the last entry that was copied from that record. */
    recorded_to: optional(Seq),
    /** How long the steps of it took. Older forks do not say. */
    recorded_ms: optional(Milliseconds),
    /** In a copy of a fork: up to here its record is that of the run which the fork was made of, and of another agent. */
    forked_to: optional(Seq),
    /** What later calls of that run came to, for those of this run that ask the same. */
    recorded: optional(
      exact({
        mode: oneOf(["recorded_then_live", "recorded_only"]),
        calls: many(RecordedCall, capsuleLimits.steps),
      }),
    ),
    /** What is to be fetched before the model is first asked, in this order. */
    prepare: optional(many(oneOf(preparations), 3)),
    /** Tokens that its model takes, prompt and answer together; null when nobody knows. */
    context_window: optional(CountOrNull),
    /** The next entry is `run.queued`. Absent: the run began at once. */
    queued: optional(True),
  },
  "run.queued": { queue_position: Count },
  "run.started": {},
  "run.requires_action": { required_action: RequiredAction },
  "run.resumed": {},
  "run.recovered": { attempt: Count, step_index: orNull(Step), clean: optional(Flag) },
  "run.completed": { output: orNull(Text), output_json: Any, usage: RunUsage },
  "run.failed": { error: RunError, output: orNull(Text), usage: RunUsage },
  "run.cancelled": { reason: orNull(Text), output: orNull(Text), usage: RunUsage },
  "step.started": {
    step_id: Id,
    ...step,
    turn_index: Step,
    name: Short,
    attempt: Count,
    tool_call_id: orNull(Id),
    /** SHA-256 of what goes in (prompt, tools and settings; or tool and arguments). */
    input_hash: orNull(Hash),
  },
  "step.restarted": {
    ...step,
    attempt: Count,
    /** `seq` of the start that this one replaces: its deltas are void. */
    discards: Seq,
    reason: orNull(ToolError),
    /** How long we wait before the new attempt. */
    delay_ms: Milliseconds,
    /** What the discarded attempt cost; null when there was nothing to count. */
    spent: orNull(ModelSpend),
    /** The text that the discarded attempt had shown: the run's output, should nothing else be said before it ends. */
    said: optional(Text),
  },
  "step.completed": {
    ...step,
    status: oneOf(["completed", "failed", "cancelled"]),
    latency_ms: Milliseconds,
    error: orNull(named("StepFailure", exact({ code: Short, message: Text, retryable: Flag }))),
    /** For a model call, else null. */
    answer: orNull(ModelAnswer),
  },
  "tool.requested": { call: ToolRequest },
  /** A person's word on a call: run it (again), with other arguments perhaps; a rejection comes as `tool.completed`. */
  "tool.decided": {
    tool_call_id: Id,
    decision: oneOf(["approve", "reject"]),
    reason: orNull(Text),
    /** Edited ones, else null. */
    arguments: orNull(Json),
    by: optional(Decider),
    /** What the call waits for now: an approved client tool still needs its output. */
    needs: orNull(Needs),
  },
  "tool.completed": {
    tool_call_id: Id,
    step_index: Step,
    tool: Short,
    status: oneOf(callStatuses),
    output: Any,
    error: orNull(ToolError),
    latency_ms: Milliseconds,
    attempts: Count,
    message_id: Id,
    /** True when it was taken from the record of the run that this one was forked from. */
    recorded: optional(True),
    /** True of a call that was never made: nothing could run it, or somebody said no. It does not count. */
    refused: optional(True),
    /** True when the client's own code gave it by `submit_tool_outputs`. */
    submitted: Flag,
    /** Of a rejection. */
    by: optional(Decider),
    /** What the call made; they come into being in the transaction of this event. */
    files: optional(many(FileFacts)),
    /** What a child run cost, or the models that a search asked: it is counted where it was spent, and for this run too. */
    usage: optional(RunUsage),
  },
  "subagent.started": { tool_call_id: Id, run_id: Id, agent_id: Id },
  "subagent.waiting": { tool_call_id: Id, calls: many(RequiredCall) },
  "subagent.resumed": { tool_call_id: Id },
  /** What a guardrail found; a step of its own. Never holds the text that it is about. */
  "guardrail.decided": {
    step_id: Id,
    step_index: Step,
    turn_index: Step,
    guardrail: GuardrailPlace,
    verdict: oneOf(guardrailVerdicts),
    /** Which call, for `tool_call` and `tool_output`. */
    tool_call_id: orNull(Id),
    message: Text,
    /** How many places it is about. */
    matches: Count,
    latency_ms: Milliseconds,
    /** What asking a judge cost, else null. */
    spent: orNull(ModelSpend),
  },
  "output.rejected": { message_id: Id, content: Text },
  "history.loaded": { messages: many(PromptMessage) },
  "documents.attached": { documents: many(AttachedDocument, 100) },
  /** What a search of the agent's stores found; ends a `retrieval` step. */
  "memory.retrieved": {
    step_index: Step,
    query: Text,
    /** Those that were searched. */
    stores: many(exact({ memory_id: Id, name: Short })),
    /** The best first. */
    matches: many(RetrievedPassage),
    /** Stores that could not be searched: the run goes on without them, and says so to the model. */
    failures: many(StoreFailure),
    /** Of the stores whose passages a reranker orders; absent where none does. */
    reranks: optional(many(StoreRerank)),
    /** Absent where every store was searched by meaning too. */
    degradations: optional(many(StoreDegradation)),
    /** What models took that the search asked: an operator's, for vectors or an order. It is counted where it was spent. */
    usage: optional(RunUsage),
    latency_ms: Milliseconds,
  },
  /** The prompt had become too long for the model; ends a `compaction` step. */
  "context.compacted": {
    step_index: Step,
    strategy: oneOf(["compact", "truncate"]),
    /** What stands for the messages left out; null where they are just left out. */
    summary: orNull(Text),
    /** Messages of the whole conversation (history and run, as `conversation` counts them) that are not sent any more. */
    left_out: Count,
    /** Estimates of the prompt before and after. */
    tokens_before: Count,
    tokens_after: Count,
    latency_ms: Milliseconds,
    /** What the summary cost; null where there is none. */
    spent: orNull(ModelSpend),
  },
};

type Fields = typeof eventFields;
export type RunEventType = keyof Fields;
type EventOf<T extends RunEventType> = Of<Fields[T]>;
export type RunEvent = { [T in RunEventType]: { type: T } & EventOf<T> }[RunEventType];

/** Whether a run is over with this. */
export const endsRun = (event: RunEvent): event is Extract<RunEvent, { type: RunEnd }> => runEnds.has(event.type);

/** Whether a model is asked with this. */
export const beginsModelCall = (
  event: RunEvent,
): event is Extract<RunEvent, { type: "step.started" | "step.restarted" }> =>
  (event.type === "step.started" || event.type === "step.restarted") && event.step_type === "model_call";

type RunEnd = "run.completed" | "run.failed" | "run.cancelled";
const runEnds: ReadonlySet<string> = new Set<RunEnd>(["run.completed", "run.failed", "run.cancelled"]);

export type RunCreated = EventOf<"run.created">;
export type StepStarted = EventOf<"step.started">;
export type StepRestarted = EventOf<"step.restarted">;
export type StepCompleted = EventOf<"step.completed">;
export type ToolCompleted = EventOf<"tool.completed">;
export type GuardrailDecided = EventOf<"guardrail.decided">;
export type MemoryRetrieved = EventOf<"memory.retrieved">;
export type ContextCompacted = EventOf<"context.compacted">;

/** An event as it stands in the journal. `seq` counts from 1 without gaps; `at` is milliseconds since 1970. */
export interface JournalEntry {
  seq: number;
  at: number;
  event: RunEvent;
}
