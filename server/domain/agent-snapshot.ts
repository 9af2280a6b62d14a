import type { Budget } from "./budget-schema.ts";
import type { FailoverReason } from "./failover.ts";
import type { RequestMapping } from "./http-request.ts";
import type { JsonSchema, ModelSettings, PromptCaching } from "./model-call.ts";
import type { ProviderTool } from "./provider-tools.ts";
import type { ResponseFailure } from "./response-failure.ts";
import type { PinnedSkill, SkillOperation } from "./skills.ts";
import type { PinnedSnippet, Variable } from "./variable.ts";
import type { WorkspaceChoice } from "./workspace-limits.ts";

/** Highest possible `max_turns`. */
export const mostTurns = 200;

/** Names of tool types for people. */
export const toolTypeWords = {
  http: "HTTP",
  webhook: "Webhook",
  client: "Client",
  code: "Code",
  mcp: "MCP server",
  agent: "Agent",
  page: "Web page",
  email: "E-mail",
};
export type ToolType = keyof typeof toolTypeWords;
export const toolTypes = Object.keys(toolTypeWords) as [ToolType, ...ToolType[]];

export const codeLanguages = ["javascript", "python"] as const;
export type CodeLanguage = (typeof codeLanguages)[number];

export const unknownPolicies = ["ask", "retry", "report"] as const;

/** Condition for an approval before a call: never, always, or if its arguments match the schema. */
export type ApprovalRule = "never" | "always" | { when: JsonSchema };

export const httpResponseTypes = ["json", "text"] as const;
export type HttpResponseType = (typeof httpResponseTypes)[number];

/** Request settings of `http` and `webhook` tools. */
export interface HttpCall {
  url: string;
  method: string;
  timeout_ms: number;
  retries: number;
  response: HttpResponseType;
  /** Paths of the fields that the model reads of a JSON response, such as `results.title`; absent: all of it. */
  output_fields?: string[];
  /** Which responses are failures, beside those whose status is not 2xx; absent: none. */
  failures?: ResponseFailure[];
  /** How the arguments become the request. Absent: they are the JSON body, or of GET and HEAD the query. */
  request?: RequestMapping;
  /** Header values, fixed query parameters and the signing secret, encrypted with the master key. Decrypted only to make the request. */
  sealed: string;
  /** The OAuth client whose token is sent as `Authorization`; absent: none. */
  oauth_client_id?: string;
}

/** Code of a `code` tool: its own function, or without `source` the code that the model writes. */
export interface CodeCall {
  language: CodeLanguage;
  source: string | null;
  timeout_ms: number;
  memory_mb: number;
  file_ids: string[];
  /** Programs that share a folder with its own. Absent in snapshots of earlier versions: none. */
  workspace?: WorkspaceChoice;
}

/** Operations on an MCP server's resources and prompts, which agents get as tools of it. */
export type McpOperation = "list_resources" | "read_resource" | "get_prompt";

/** One tool of an MCP server. */
interface McpCall {
  /** `https://…`, or `stdio:<name>` for a server that the operator configured. */
  server_url: string;
  /** Name of the tool at its server. */
  tool: string;
  /** True if the server takes calls only as tasks. */
  as_task?: true;
  /** For tools that read the server's resources and prompts. */
  operation?: McpOperation;
  timeout_ms: number;
  /** Header values, encrypted like those of HTTP tools. */
  sealed: string;
  /** See `HttpCall`. */
  oauth_client_id?: string;
}

/** Another agent as a tool. */
export interface AgentCall {
  agent_id: string;
  /** The agent's version, or the label that chooses it; without both, the newest. */
  version?: number;
  label?: string;
}

/** Reads pages of the web. */
export interface PageCall {
  /** Hosts that may be read, also `*.example.com`; null: each public host. */
  allowed_hosts: string[] | null;
  timeout_ms: number;
}

/** Sends e-mail by a mail server. */
export interface EmailCall {
  /** `smtp://user@host:587` (STARTTLS) or `smtps://user@host:465`. */
  smtp_url: string;
  /** The sender, such as `Support <support@example.com>`. */
  from: string;
  /** Addresses, or `*@example.com`; null: each address. */
  allowed_recipients: string[] | null;
  timeout_ms: number;
  /** The password, encrypted like the headers of HTTP tools. */
  sealed: string;
}

/** Memory tools of a run. They follow from the agent's memory policy and are not stored as tools. */
export const memoryOperations = ["memory_search", "memory_write", "kv_get", "kv_set"] as const;
export type MemoryOperation = (typeof memoryOperations)[number];

/** Fields of tools of every type, as pinned by a run. */
export interface ToolBase {
  id: string;
  /** Unique within the agent, because calls are looked up by it. */
  name: string;
  description: string;
  parameters: JsonSchema;
  approval: ApprovalRule;
  idempotent: boolean;
  on_unknown: (typeof unknownPolicies)[number];
  max_output_bytes: number;
  /** True if the run's request defined the tool: it is not stored as a tool. */
  of_request?: true;
}

export interface HttpTool extends ToolBase {
  type: "http" | "webhook";
  http: HttpCall;
}

export interface ClientTool extends ToolBase {
  type: "client";
  http: null;
}

export interface CodeTool extends ToolBase {
  type: "code";
  http: null;
  code: CodeCall;
}

/** One tool of an MCP server, with the `id` of the tool that names the server. */
export interface McpTool extends ToolBase {
  type: "mcp";
  http: null;
  mcp: McpCall;
}

export interface AgentTool extends ToolBase {
  type: "agent";
  http: null;
  agent: AgentCall;
}

export interface PageTool extends ToolBase {
  type: "page";
  http: null;
  page: PageCall;
}

export interface EmailTool extends ToolBase {
  type: "email";
  http: null;
  email: EmailCall;
}

/** A tool that comes with the agent's memory policy; it cannot be created. */
export interface MemoryTool extends ToolBase {
  type: "memory";
  http: null;
  memory: { operation: MemoryOperation; stores: ToolStore[] };
}

/** The tool that finds and loads the agent's other tools; it cannot be created. */
export interface SearchTool extends ToolBase {
  type: "tool_search";
  http: null;
}

/** A tool that comes with the agent's skills; it cannot be created. */
export interface SkillTool extends ToolBase {
  type: "skill";
  http: null;
  skill: { operation: SkillOperation; skills: Omit<PinnedSkill, "description">[] };
}

/** Part of the conversation that goes along with a handoff. */
export const handoffFilters = ["all", "last_message", "no_tool_calls"] as const;
export type HandoffFilter = (typeof handoffFilters)[number] | { messages: number };

/** A handoff of an agent: the agent that may go on with its conversations. */
export interface AgentHandoff {
  agent_id: string;
  /** The agent's version, or the label that chooses it for each run; without both, the newest. */
  version?: number;
  label?: string;
  /** Tells the model when to hand over; absent: the other agent's description. */
  description?: string;
  filter: HandoffFilter;
}

/** Hands the conversation over to another agent. It comes with the agent's handoffs; it cannot be created. */
export interface HandoffTool extends ToolBase {
  type: "handoff";
  http: null;
  handoff: { agent_id: string; filter: HandoffFilter };
}

/** A tool as pinned by a run. */
export type ToolSnapshot =
  | HttpTool
  | ClientTool
  | CodeTool
  | McpTool
  | AgentTool
  | PageTool
  | EmailTool
  | MemoryTool
  | SearchTool
  | SkillTool
  | HandoffTool;

/** A tool of an exported or imported trace, which nothing can call: it has no settings. */
export interface ExportedTool extends ToolBase {
  type: ToolSnapshot["type"];
  http: null;
  memory?: MemoryTool["memory"];
  skill?: SkillTool["skill"];
  handoff?: HandoffTool["handoff"];
}

export const memoryKindNames = ["vector", "kv"] as const;
export type MemoryKindName = (typeof memoryKindNames)[number];

/** Group that shares a store's content: one user, one session, or the project. */
export const memoryScopes = ["user", "session", "project"] as const;
export type MemoryScope = (typeof memoryScopes)[number];

/** Access of runs to a store. */
export const memoryAccesses = ["read", "read_write"] as const;

/** Part of its thread that a run reads. */
export const historyModes = ["none", "thread"] as const;

export const rerankTypes = ["cross_encoder", "chat"] as const;
export type RerankType = (typeof rerankTypes)[number];

/** Model that reorders the passages of a search: a cross-encoder of a connection, or any chat model. */
export interface Rerank {
  model: string;
  /** Absent: a cross-encoder. */
  type?: RerankType;
  /** Maximal number of passages for the reranker. */
  candidates: number;
}

/** Selection of the passages found. */
export interface PassageChoices {
  /** Penalty for similarity to a better passage, from 0 to 1; absent: none. */
  diversity?: number;
  /** Number of passages before and after each that are included; absent: none. */
  neighbors?: number;
}

/** A memory store as an agent uses it. */
interface PolicyStore extends PassageChoices {
  memory_id: string;
  access: (typeof memoryAccesses)[number];
  /** Searched with the input before the first model call. */
  auto_retrieve: boolean;
  top_k: number;
  score_threshold: number;
  /** Absent: passages keep the order of the search. */
  rerank?: Rerank;
  /** Facts about the user are extracted from each run and stored here; absent: no. */
  learn?: true;
}

export const contextStrategies = ["compact", "truncate", "fail"] as const;

/** Memory of an agent, and its handling of prompts that are too long for the model (contract, section 4). */
export interface MemoryPolicy<Store extends PolicyStore = PolicyStore> {
  stores: Store[];
  history: { mode: (typeof historyModes)[number]; max_messages: number };
  context: ContextPolicy;
}

export interface ContextPolicy {
  strategy: (typeof contextStrategies)[number];
  reserve_output_tokens: number;
  /** Maximal size of each tool output in a prompt; longer ones are cut to head and tail. */
  tool_output_max_bytes: number;
}

/** A store for a memory tool; `name` is the name that the model uses. */
export type ToolStore = Pick<
  PinnedStore,
  "memory_id" | "name" | "top_k" | "score_threshold" | "rerank" | keyof PassageChoices
>;

/** A store as pinned by a run. Its content is not pinned: each read is journaled. */
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

/** Texts that guardrails check: user input, model output, tool arguments, and tool output. */
export const guardrailPoints = ["input", "output", "tool_call", "tool_output"] as const;
export type GuardrailPoint = (typeof guardrailPoints)[number];

export const guardrailActions = ["block", "redact", "flag", "require_approval"] as const;
export type GuardrailAction = (typeof guardrailActions)[number];

/** A rule for the texts that enter and leave a run (contract, section 4); `config` depends on the type. */
export interface Guardrail {
  type: GuardrailType;
  on: GuardrailPoint[];
  action: GuardrailAction;
  config: Record<string, unknown>;
}

/** An agent as pinned by a run, so that later edits and deletions do not change the run. */
export interface AgentSnapshot {
  id: string;
  version: number;
  name: string;
  model: string;
  /** All its models in their order, if there are several; the first is `model`. */
  models?: string[];
  /** Failures after which its runs ask their next model; absent: those of `defaultFailover`. */
  failover_on?: FailoverReason[];
  instructions: string;
  settings: ModelSettings;
  tools: ToolSnapshot[];
  max_turns: number;
  output_schema: JsonSchema | null;
  guardrails?: Guardrail[];
  /** Budget of the agent; a run may have a tighter one (`run.created`). */
  budget?: Budget | null;
  /** Absent: `auto`. */
  prompt_caching?: PromptCaching;
  /** Tools that the model's provider runs itself. */
  provider_tools?: ProviderTool[];
  /** Variables of its instructions and its tools' descriptions. Absent: `{{name}}` is text. */
  variables?: Variable[];
  /** Snippets of its instructions, with their texts. Absent: `{{> name}}` is text. */
  snippets?: PinnedSnippet[];
  /** Absent: no memory. Runs of older versions are then never compacted. */
  memory?: MemoryPolicy<PinnedStore>;
  /** The versions of its skills; absent: it has none. */
  skills?: PinnedSkill[];
  /** Tools that could not be pinned, such as those of an unreachable MCP server: the run fails with the first. */
  unavailable?: { tool: string; message: string }[];
  /** Agents that its runs can reach by handoffs, without teams of their own; absent: none. */
  team?: AgentSnapshot[];
}
