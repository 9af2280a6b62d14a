import type { Budget } from "./budget-schema.ts";
import type { JsonSchema, ModelSettings } from "./model-call.ts";

/** How many model calls a run may make, at most. */
export const mostTurns = 200;

/** Each type of tools, as people call it. */
export const toolTypeWords = {
  http: "HTTP",
  webhook: "Webhook",
  client: "Client",
  code: "Code",
  mcp: "MCP server",
  agent: "Agent",
};
export type ToolType = keyof typeof toolTypeWords;
export const toolTypes = Object.keys(toolTypeWords) as [ToolType, ...ToolType[]];

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
interface McpCall {
  /** `https://…`, or `stdio:<name>` for a server that the operator configured. */
  server_url: string;
  /** The tool's name at its server. */
  tool: string;
  timeout_ms: number;
  /** Header values, encrypted like those of HTTP tools. */
  sealed: string;
}

/** Another agent as a tool. */
interface AgentCall {
  agent_id: string;
}

/** What a run may do with its memory: these tools are the agent's policy, and no rows of anybody. */
export const memoryOperations = ["memory_search", "memory_write", "kv_get", "kv_set"] as const;
export type MemoryOperation = (typeof memoryOperations)[number];

/** A tool as a run pinned it. Each tool of an MCP server is one, with the `id` of the tool that names the server. */
export interface ToolSnapshot {
  id: string;
  /** Unique within the agent: calls are looked up by it. */
  name: string;
  description: string;
  parameters: JsonSchema;
  /** `memory` comes with the agent's memory policy; nobody creates one. */
  type: ToolType | "memory";
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
  /** The request of the run brought it along: it is no tool that anybody could look up. */
  of_request?: true;
  memory?: { operation: MemoryOperation; stores: ToolStore[] };
}

export const memoryKindNames = ["vector", "kv"] as const;
export type MemoryKindName = (typeof memoryKindNames)[number];

/** Who shares what is in a store: one user, one session, or everybody in the project. */
export const memoryScopes = ["user", "session", "project"] as const;
export type MemoryScope = (typeof memoryScopes)[number];

export const rerankTypes = ["cross_encoder", "chat"] as const;
export type RerankType = (typeof rerankTypes)[number];

/** What puts the passages that a search found into a better order: a cross-encoder by a connection, or any model of chats. */
export interface Rerank {
  model: string;
  /** Absent: a cross-encoder. */
  type?: RerankType;
  /** How many passages it is shown, at most. */
  candidates: number;
}

/** How the passages found are chosen and shown. */
export interface PassageChoices {
  /** What likeness to a better one costs a passage, from 0 to 1; absent: nothing. */
  diversity?: number;
  /** How many passages before and behind each are shown with it; absent: none. */
  neighbors?: number;
}

/** A memory store as an agent uses it. */
interface PolicyStore extends PassageChoices {
  memory_id: string;
  access: "read" | "read_write";
  /** Searched with the input before the first model call. */
  auto_retrieve: boolean;
  top_k: number;
  score_threshold: number;
  /** Absent: passages stay in the order in which they were found. */
  rerank?: Rerank;
  /** Facts of the user are learned from each run and kept here; absent: they are not. */
  learn?: true;
}

export const contextStrategies = ["compact", "truncate", "fail"] as const;

/** What an agent remembers, and what it does when that is too much for its model (contract, section 4). */
export interface MemoryPolicy<Store extends PolicyStore = PolicyStore> {
  stores: Store[];
  history: { mode: "none" | "thread"; max_messages: number };
  context: ContextPolicy;
}

export interface ContextPolicy {
  strategy: (typeof contextStrategies)[number];
  reserve_output_tokens: number;
  /** Of each tool's output that the model reads; what is longer is shown by its head and its tail. */
  tool_output_max_bytes: number;
}

/** A store as a memory tool reaches it; `name` is what its model calls it. */
export type ToolStore = Pick<
  PinnedStore,
  "memory_id" | "name" | "top_k" | "score_threshold" | "rerank" | keyof PassageChoices
>;

/** A store as a run pinned it. What is in it is no part of the run: each look into it is journaled. */
export interface PinnedStore extends PolicyStore {
  name: string;
  kind: MemoryKindName;
  scope: MemoryScope;
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
  /** Absent: it remembers nothing, and runs of older versions are never compacted. */
  memory?: MemoryPolicy<PinnedStore>;
  /** Tools that could not be pinned, such as those of an MCP server that never answered: the run fails of the first. */
  unavailable?: { tool: string; message: string }[];
}
