import type { Budget, GuardrailPoint, GuardrailType } from "./agent-snapshot.ts";
import type { RunErrorCode } from "./errors.ts";
import type { AssistantPart, FinishReason, ModelUsage } from "./model-call.ts";
import type { ModelPrice } from "./price.ts";
import type { Environment } from "./scope.ts";
import type { RunUsage } from "./usage.ts";

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
  | { type: "output.rejected"; message_id: string; content: string };

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
  /** The next entry is `run.queued`. Absent: the run began at once. */
  queued?: true;
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

export type Needs = "output" | "approval" | "reconcile";

export interface ToolRequest {
  id: string;
  step_index: number;
  turn_index: number;
  tool_id: string | null;
  tool: string;
  type: string;
  arguments: Record<string, unknown>;
  needs: Needs | null;
}

/** A person's word on a call: run it (again), with other arguments perhaps; a rejection comes as `tool.completed`. */
export interface ToolDecision {
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
}
