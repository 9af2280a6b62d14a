import type { JsonSchema, ModelSettings } from "./model-call.ts";

export const toolTypes = ["http", "webhook", "client", "code", "mcp", "agent"] as const;
export type ToolType = (typeof toolTypes)[number];

export const codeLanguages = ["javascript", "python"] as const;
export type CodeLanguage = (typeof codeLanguages)[number];

export const unknownPolicies = ["ask", "retry", "report"] as const;

/** When a call needs a person's word first: never, always, or when its arguments fit the schema. */
export type ApprovalRule = "never" | "always" | { when: JsonSchema };

/** Where `http` and `webhook` tools send their calls. */
export interface HttpCall {
  url: string;
  method: string;
  timeout_ms: number;
  retries: number;
  response: "json" | "text";
  /** Header values and the signing secret, encrypted with the master key; opened only where the request is made. */
  sealed: string;
}

/** What a `code` tool runs: its own function, or without `source` the code that the model writes. */
export interface CodeCall {
  language: CodeLanguage;
  source: string | null;
  timeout_ms: number;
  memory_mb: number;
  file_ids: string[];
}

/** One tool of an MCP server. */
export interface McpCall {
  /** `https://…`, or `stdio:<name>` for a server that the operator configured. */
  server_url: string;
  /** The tool's name at its server. */
  tool: string;
  timeout_ms: number;
  /** Header values, encrypted like those of HTTP tools. */
  sealed: string;
}

/** Another agent as a tool. */
export interface AgentCall {
  agent_id: string;
}

/** A tool as a run pinned it. Each tool of an MCP server is one, with the `id` of the tool that names the server. */
export interface ToolSnapshot {
  id: string;
  /** Unique within the agent: calls are looked up by it. */
  name: string;
  description: string;
  parameters: JsonSchema;
  type: ToolType;
  approval: ApprovalRule;
  idempotent: boolean;
  on_unknown: (typeof unknownPolicies)[number];
  max_output_bytes: number;
  /** For `type: "http"` and `"webhook"`, else null. */
  http: HttpCall | null;
  /** For the type of this name only; runs of older versions have none of them. */
  code?: CodeCall;
  mcp?: McpCall;
  agent?: AgentCall;
}

export const guardrailTypes = [
  "max_length",
  "regex",
  "blocked_terms",
  "pii",
  "secrets",
  "json_schema",
  "url_allowlist",
  "tool_allowlist",
  "llm_judge",
] as const;
export type GuardrailType = (typeof guardrailTypes)[number];

/** What is looked at: what the user says, what the model says, what it asks of a tool, and what the tool answers. */
export const guardrailPoints = ["input", "output", "tool_call", "tool_output"] as const;
export type GuardrailPoint = (typeof guardrailPoints)[number];

export const guardrailActions = ["block", "redact", "flag", "require_approval"] as const;
export type GuardrailAction = (typeof guardrailActions)[number];

/** A rule over what goes in and out of a run (contract, section 4); `config` is of its type. */
export interface Guardrail {
  type: GuardrailType;
  on: GuardrailPoint[];
  action: GuardrailAction;
  config: Record<string, unknown>;
}

/** What a run may spend at most; what is absent has no bound. */
export interface Budget {
  max_cost_usd?: number;
  max_total_tokens?: number;
  max_tool_calls?: number;
  max_wall_ms?: number;
}

/** An agent as a run pinned it: edits and deletions after the start cannot change what the run does. */
export interface AgentSnapshot {
  id: string;
  version: number;
  name: string;
  model: string;
  instructions: string;
  settings: ModelSettings;
  tools: ToolSnapshot[];
  max_turns: number;
  output_schema: JsonSchema | null;
  guardrails?: Guardrail[];
  /** Of the agent; a run may have a tighter one (`run.created`). */
  budget?: Budget | null;
  /** Tools that could not be pinned, such as those of an MCP server that never answered: the run fails of the first. */
  unavailable?: { tool: string; message: string }[];
}
