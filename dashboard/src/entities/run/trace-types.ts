import type { RunStatus, Usage } from "../../lib/types.ts";

/** What is said of a trace beside its steps. */
export interface Trace {
  id: string;
  run_id: string;
  agent_id: string;
  agent_version: number;
  status: RunStatus;
  started_at: string;
  ended_at: string | null;
  /** To its end, or to the newest thing that happened. */
  duration_ms: number;
  usage: Usage | null;
  created_at: string;
  origin: "run" | "replay" | "fork" | "import";
  forked_from: { run_id: string; step_index: number } | null;
  replay_of: string | null;
  recoveries: Recovery[];
  history_messages: number;
}

/** A page of it, as it comes. */
export interface TracePage extends Trace {
  steps: TraceStep[];
  steps_has_more: boolean;
}

/** A new process went on with the run. */
export interface Recovery {
  attempt: number;
  at: string;
  step_index: number | null;
}

export type StepStatus = "in_progress" | "waiting" | "completed" | "failed" | "rejected" | "cancelled" | "unknown";

export interface StepUsage {
  input_tokens: number | null;
  output_tokens: number | null;
  cached_input_tokens: number | null;
  reasoning_tokens: number | null;
  cost_usd: number | null;
  estimated: boolean;
}

interface Retry {
  attempt: number;
  at: string;
  reason: { code: string; message: string } | null;
  delay_ms: number;
  usage: StepUsage | null;
}

export interface Approval {
  decision: "approve" | "reject";
  reason: string | null;
  edited: boolean;
  at: string;
  by: { type: string; id: string | null } | null;
}

export interface StepFile {
  id: string;
  filename: string;
  mime_type: string;
  bytes: number;
}

/** One entry of a trace. */
export interface TraceStep {
  id: string;
  step_index: number;
  turn_index: number;
  type: string;
  name: string;
  status: StepStatus;
  attempt: number;
  started_at: string;
  ended_at: string | null;
  latency_ms: number | null;
  time_to_first_token_ms: number | null;
  input: unknown;
  output: unknown;
  reasoning: string | null;
  error: { code: string; message: string } | null;
  usage: StepUsage | null;
  finish_reason: string | null;
  model: string | null;
  tool_call_id: string | null;
  input_hash: string | null;
  replayed: boolean;
  subagent: { run_id: string; agent_id: string } | null;
  approval: Approval | null;
  retries: Retry[];
  files?: StepFile[];
  /** With `include=raw`. */
  raw?: JournalEntry[];
  /** With `include=prompt`: null where it is not known word for word. */
  prompt?: Prompt | null;
}

/** What the journal holds of a step. */
export interface JournalEntry {
  seq: number;
  at: number;
  event: Record<string, unknown> & { type: string };
}

/** What a model read, word for word. */
export interface Prompt {
  messages: PromptMessage[];
  tools: { name: string; description: string; parameters: unknown }[];
  settings: Record<string, unknown>;
}

export type PromptMessage =
  | { role: "system"; content: string }
  | { role: "user"; content: string; images?: { file_id: string; mime_type: string }[] }
  | { role: "assistant"; parts: PromptPart[] }
  | { role: "tool"; call_id: string; tool: string; output: string; is_error: boolean };

type PromptPart =
  | { type: "text" | "reasoning"; text: string }
  | { type: "tool_call"; id: string; name: string; arguments: string };

/** A passage that a memory store gave. */
export interface Passage {
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

/** The steps of a run as far as they are here. */
export interface LoadedTrace {
  trace: Trace;
  steps: TraceStep[];
  /** There are further pages. */
  hasMore: boolean;
}
