import type { RunInput } from "../../../server/core/run-input.ts";

/** The wire shapes that the dashboard reads. Fields that it never shows are left out. */
export type Mode = "test" | "live";

export interface Project {
  id: string;
  name: string;
}

export interface Session {
  user: { id: string; email: string; role: "viewer" | "member" | "owner" };
  projects: Project[];
  setup_required: boolean;
  version: string;
  /** On the server's machine; null where its certificate needs none. */
  ca_file: string | null;
  request_id: string;
}

export interface List<T> {
  object: "list";
  data: T[];
  has_more: boolean;
  first_id: string | null;
  last_id: string | null;
  request_id: string;
}

export interface Agent {
  id: string;
  name: string;
  model: string;
}

export const runStatuses = ["in_progress", "requires_action", "completed", "failed", "cancelled", "queued"] as const;
export type RunStatus = (typeof runStatuses)[number];

export interface Usage {
  input_tokens: number | null;
  output_tokens: number | null;
  total_tokens: number | null;
  model_calls: number;
  tool_calls: number;
  cost_usd: number | null;
  estimated: boolean;
}

export interface RunError {
  type: string;
  code: string;
  message: string;
  step_index: number | null;
  retryable: boolean;
}

export type Needs = "output" | "approval" | "reconcile";

export interface PendingCall {
  id: string;
  tool: string;
  arguments: unknown;
  needs: Needs;
  expires_at: string | null;
  /** The run of an agent whose call this is; absent for the run's own. */
  run_id?: string;
}

interface RequiredAction {
  type: "submit_tool_outputs";
  submit_tool_outputs: { tool_calls: PendingCall[] };
}

export const runOrigins = ["run", "replay", "fork", "import"] as const;
/** How a run came to be. */
export type RunOrigin = (typeof runOrigins)[number];

/** A message of a run, as far as pages need it. */
interface RunMessage {
  role: "user" | "assistant" | "tool";
  tool_calls?: { id: string }[];
}

/** A tool call as its run tells of it. */
interface CallRecord {
  id: string;
  tool: string;
  /** `http`, `client`, `agent`, … */
  type: string;
}

export interface Run {
  id: string;
  object: "run";
  agent_id: string;
  agent_version: number;
  model: string;
  status: RunStatus;
  input: RunInput;
  output: string | null;
  required_action: RequiredAction | null;
  usage: Usage | null;
  error: RunError | null;
  /** `schedule_id`, if a schedule began it. */
  metadata?: Record<string, string>;
  thread_id: string | null;
  user_id: string | null;
  parent_run_id: string | null;
  /** What was said; empty once the trace was deleted. */
  messages?: RunMessage[];
  tool_calls?: CallRecord[];
  /** In a list, in place of those two: the kinds of its newest calls, the oldest first. */
  last_calls?: ("model_call" | "tool_call" | "subagent")[];
  /** In a list: the fields that are not here in full. */
  truncated?: string[];
  /** Null once the trace was deleted. */
  trace_id?: string | null;
  origin?: RunOrigin;
  forked_from?: { run_id: string; step_index: number } | null;
  replay_of?: string | null;
  queue_position: number | null;
  attempt: number;
  created_at: string;
  started_at: string | null;
  ended_at: string | null;
}

/** True once a run can no longer change. */
export function isOver(status: RunStatus): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}
