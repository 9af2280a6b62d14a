import type { Budget, GuardrailPoint, GuardrailType } from "./agent-snapshot.ts";
import type { RunErrorCode } from "./errors.ts";
import type { AssistantPart, FinishReason, ModelUsage, PromptMessage } from "./model-call.ts";
import type { ModelPrice } from "./price.ts";
import type { Asked } from "./run-input.ts";
import type { Environment } from "./scope.ts";

/**
 * What happens to a run, in the order in which it happened. The journal stores these, everything else folds them.
 * Shapes are for ever: fields may be added, never renamed or removed (the corpus in __fixtures__ holds us to it).
 */
export type RunEvent =
  | ({ type: "run.created" } & RunCreated)
  | { type: "run.queued"; queue_position: number }
  | { type: "run.started" }
  | { type: "run.requires_action"; required_action: RequiredAction }
  | { type: "run.resumed" }
  | { type: "run.recovered"; attempt: number; step_index: number | null; clean?: boolean }
  | { type: "run.completed"; output: string | null; output_json: unknown; usage: RunUsage }
  | { type: "run.failed"; error: RunError; output: string | null; usage: RunUsage }
  | { type: "run.cancelled"; reason: string | null; output: string | null; usage: RunUsage }
  | ({ type: "step.started" } & StepStarted)
  | ({ type: "step.restarted" } & StepRestarted)
  | ({ type: "step.completed" } & StepCompleted)
  | { type: "tool.requested"; call: ToolRequest }
  | ({ type: "tool.decided" } & ToolDecision)
  | ({ type: "tool.completed" } & ToolCompleted)
  | { type: "subagent.started"; tool_call_id: string; run_id: string; agent_id: string }
  | { type: "subagent.waiting"; tool_call_id: string; calls: RequiredCall[] }
  | { type: "subagent.resumed"; tool_call_id: string }
  | ({ type: "guardrail.decided" } & GuardrailDecided)
  | { type: "output.rejected"; message_id: string; content: string }
  | { type: "history.loaded"; messages: PromptMessage[] }
  | { type: "documents.attached"; documents: AttachedDocument[] }
  | ({ type: "memory.retrieved" } & MemoryRetrieved)
  | ({ type: "context.compacted" } & ContextCompacted);

export type RunEventType = RunEvent["type"];

/** An event as it stands in the journal. `seq` counts from 1 without gaps; `at` is milliseconds since 1970. */
export interface JournalEntry {
  seq: number;
  at: number;
  event: RunEvent;
}

/** All that a run pins when it starts. `agent_hash` names the blob with the whole `AgentSnapshot`. */
export interface RunCreated {
  run_id: string;
  project_id: string;
  environment: Environment;
  agent_id: string;
  agent_version: number;
  agent_hash: string;
  model: string;
  input: string;
  message_id: string;
  /** Messages that came along with the input, before it; there also when there were none beside it. */
  earlier?: Asked["earlier"];
  max_turns: number;
  timeout_ms: number;
  action_timeout_ms: number;
  on_disconnect: "continue" | "cancel";
  thread_id: string | null;
  session_id: string | null;
  user_id: string | null;
  file_ids: string[];
  parent_run_id: string | null;
  /** The call of the parent that this run answers. */
  parent_call_id?: string;
  /** How many parents there are above it. */
  depth?: number;
  /** What it may spend: the tightest of its agent's, its own and, for a child, what its parent gave it. */
  budget?: Budget | null;
  /** What its model costs; null when nobody knows. Older runs have none: the price that came along was theirs. */
  price?: ModelPrice | null;
  metadata: Record<string, string>;
  request_id: string | null;
  /** The run whose record stands at the beginning of this one, up to `recorded_to`; it is not paid for again. */
  forked_from?: { run_id: string; step_index: number };
  replay_of?: string;
  /** What a replay came to: it is known before its first entry is written. */
  replay?: Replay;
  /** True for a trace that came from elsewhere: nothing of it happened here. */
  imported?: true;
  /** True for a fork of such a trace, with the agent that it has pinned: its tools are not there to be run. */
  foreign_agent?: true;
  /** `seq` of the last entry that was copied from that record. */
  recorded_to?: number;
  /** In a copy of a fork: up to here its record is that of the run which the fork was made of, and of another agent. */
  forked_to?: number;
  /** What later calls of that run came to, for those of this run that ask the same. */
  recorded?: { mode: "recorded_then_live" | "recorded_only"; calls: RecordedCall[] };
  /** What is to be fetched before the model is first asked, in this order. */
  prepare?: Preparation[];
  /** Tokens that its model takes, prompt and answer together; null when nobody knows. */
  context_window?: number | null;
  /** The next entry is `run.queued`. Absent: the run began at once. */
  queued?: true;
}

/** A place where the loop, given what the record gave it, does not do what the record says. */
export interface Divergence {
  step_index: number;
  kind: DivergenceKind;
  /** SHA-256 of what stands in the record, and of what comes now. */
  expected_hash: string;
  actual_hash: string;
  message: string;
  /** Both, where they are short enough to be read. */
  expected?: unknown;
  actual?: unknown;
}

export const divergenceKinds = ["prompt", "tool_call", "guardrail", "decision", "output"] as const;
export type DivergenceKind = (typeof divergenceKinds)[number];

export const replayModes = ["strict", "verify"] as const;
export const replayAgents = ["pinned", "current"] as const;

export interface Replay {
  mode: (typeof replayModes)[number];
  /** Which agent the record was held against: the one that it has pinned, or the one that there is now. */
  agent: (typeof replayAgents)[number];
  agent_version: number;
  divergences: Divergence[];
  first_divergence: Divergence | null;
  /** Steps of the record that came out the same. */
  matched_steps: number;
  model_calls: 0;
  tool_calls: 0;
}

/** A tool call of another run, by what it asked, and what it came to. */
export interface RecordedCall {
  tool: string;
  arguments: Record<string, unknown>;
  status: ToolCompleted["status"];
  output: unknown;
  error: ToolError | null;
}

/** Each ends with its own event: `history.loaded`, `documents.attached`, `memory.retrieved`. */
export const preparations = ["history", "documents", "retrieval"] as const;
export type Preparation = (typeof preparations)[number];

/** A file of the run as its model gets it. */
export interface AttachedDocument {
  file_id: string;
  filename: string;
  mime_type: string;
  sha256: string;
  /** The text of a document; null for an image, and for what could not be read (`note` says why). */
  text: string | null;
  /** The image itself goes to the model; its bytes are fetched when the request is made. */
  image: boolean;
  note: string | null;
}

/** What a search of the agent's stores found; ends a `retrieval` step. */
export interface MemoryRetrieved {
  step_index: number;
  query: string;
  /** Those that were searched. */
  stores: { memory_id: string; name: string }[];
  /** The best first. */
  matches: RetrievedPassage[];
  /** Stores that could not be searched: the run goes on without them, and says so to the model. */
  failures: { memory_id: string; code: string; message: string }[];
  latency_ms: number;
}

export interface RetrievedPassage {
  memory_id: string;
  entry_id: string;
  text: string;
  score: number;
  file_id: string | null;
  filename: string | null;
  chunk_index: number;
  page: number | null;
  heading: string | null;
}

/** The prompt had become too long for the model; ends a `compaction` step. */
export interface ContextCompacted {
  step_index: number;
  strategy: "compact" | "truncate";
  /** What stands for the messages left out; null where they are just left out. */
  summary: string | null;
  /** Messages of the whole conversation (history and run, as `conversation` counts them) that are not sent any more. */
  left_out: number;
  /** Estimates of the prompt before and after. */
  tokens_before: number;
  tokens_after: number;
  latency_ms: number;
  /** What the summary cost; null where there is none. */
  spent: ModelSpend | null;
}

export const stepTypes = [
  "model_call",
  "tool_call",
  "retrieval",
  "guardrail",
  "approval",
  "subagent",
  "compaction",
  "recovery",
] as const;
export type StepType = (typeof stepTypes)[number];

export interface StepStarted {
  step_id: string;
  step_index: number;
  step_type: StepType;
  turn_index: number;
  name: string;
  attempt: number;
  tool_call_id: string | null;
  /** SHA-256 of what goes in (prompt, tools and settings; or tool and arguments). */
  input_hash: string | null;
}

export interface StepRestarted {
  step_index: number;
  step_type: StepType;
  attempt: number;
  /** `seq` of the start that this one replaces: its deltas are void. */
  discards: number;
  reason: { code: string; message: string } | null;
  /** How long we wait before the new attempt. */
  delay_ms: number;
  /** What the discarded attempt cost; null when there was nothing to count. */
  spent: ModelSpend | null;
  /** The text that the discarded attempt had shown: the run's output, should nothing else be said before it ends. */
  said?: string;
}

export interface StepCompleted {
  step_index: number;
  step_type: StepType;
  status: "completed" | "failed" | "cancelled";
  latency_ms: number;
  error: { code: string; message: string; retryable: boolean } | null;
  /** For a model call, else null. */
  answer: ModelAnswer | null;
}

/** What a run cost so far. Null is unknown, 0 is zero; `estimated` says that some of it was counted by us. */
export interface RunUsage {
  input_tokens: number | null;
  output_tokens: number | null;
  total_tokens: number | null;
  cached_input_tokens: number | null;
  reasoning_tokens: number | null;
  model_calls: number;
  tool_calls: number;
  cost_usd: number | null;
  estimated: boolean;
}

export interface ModelSpend {
  usage: ModelUsage;
  cost_usd: number | null;
  /** True when the provider did not say and we counted what was streamed. */
  estimated: boolean;
}

/** What a model call said, whole, with how it arrived: enough for an exact resume and a replay at the same speed. */
export interface ModelAnswer extends ModelSpend {
  message_id: string;
  parts: AssistantPart[];
  /** Flat triples: part, length in UTF-16 code units, milliseconds since the step started. */
  deltas: number[];
  finish: FinishReason | null;
  time_to_first_token_ms: number | null;
}

export const callNeeds = ["output", "approval", "reconcile"] as const;
export type Needs = (typeof callNeeds)[number];

export interface ToolRequest {
  id: string;
  step_index: number;
  turn_index: number;
  tool_id: string | null;
  tool: string;
  type: string;
  arguments: Record<string, unknown>;
  needs: Needs | null;
  /** Which result of `run.created`'s `recorded` answers it; -1: there is none, and it is not run either. */
  recorded?: number;
}

/** A person's word on a call: run it (again), with other arguments perhaps; a rejection comes as `tool.completed`. */
interface ToolDecision {
  tool_call_id: string;
  decision: "approve" | "reject";
  reason: string | null;
  /** Edited ones, else null. */
  arguments: Record<string, unknown> | null;
  by?: Decider;
  /** What the call waits for now: an approved client tool still needs its output. */
  needs: Needs | null;
}

/** Who decided on a call: the key, or the person at the dashboard. */
export interface Decider {
  type: string;
  id: string | null;
}

export interface ToolError {
  code: string;
  message: string;
}

export interface ToolCompleted {
  tool_call_id: string;
  step_index: number;
  tool: string;
  status: "completed" | "failed" | "rejected" | "cancelled" | "unknown";
  output: unknown;
  error: ToolError | null;
  latency_ms: number;
  attempts: number;
  message_id: string;
  /** True when it was taken from the record of the run that this one was forked from. */
  recorded?: true;
  /** True of a call that was never made: nothing could run it, or somebody said no. It does not count. */
  refused?: true;
  /** True when the client's own code gave it by `submit_tool_outputs`. */
  submitted: boolean;
  /** Of a rejection. */
  by?: Decider;
  /** What the call made; they come into being in the transaction of this event. */
  files?: FileFacts[];
  /** What a child run cost, which counts for its parent too. */
  usage?: RunUsage;
}

/** A file that a tool made. Its content is kept under `sha256` already. */
export interface FileFacts {
  id: string;
  filename: string;
  mime_type: string;
  bytes: number;
  sha256: string;
}

export const guardrailVerdicts = ["passed", "flagged", "redacted", "approval_required", "blocked"] as const;
export type GuardrailVerdict = (typeof guardrailVerdicts)[number];

/** What a guardrail found; a step of its own. Never holds the text that it is about. */
export interface GuardrailDecided {
  step_id: string;
  step_index: number;
  turn_index: number;
  guardrail: { index: number; type: GuardrailType; on: GuardrailPoint };
  verdict: GuardrailVerdict;
  /** Which call, for `tool_call` and `tool_output`. */
  tool_call_id: string | null;
  message: string;
  /** How many places it is about. */
  matches: number;
  latency_ms: number;
  /** What asking a judge cost, else null. */
  spent: ModelSpend | null;
}

export interface RequiredAction {
  type: "submit_tool_outputs";
  submit_tool_outputs: { tool_calls: RequiredCall[] };
}

export interface RequiredCall {
  id: string;
  tool_id: string | null;
  tool: string;
  arguments: Record<string, unknown>;
  needs: Needs;
  expires_at: string;
  /** The child run whose call this is; absent for the run's own. */
  run_id?: string;
}

export interface RunError {
  type: "run_error";
  code: RunErrorCode;
  message: string;
  step_index: number | null;
  retryable: boolean;
  /** For `guardrail_blocked`. */
  guardrail?: GuardrailDecided["guardrail"];
  /** For `replay_diverged`: where. */
  divergence?: Divergence;
}
