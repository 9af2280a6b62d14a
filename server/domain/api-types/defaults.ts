import { limits } from "../limits.ts";

type Values = Record<string, unknown>;

const ofEveryRun = { stream: false, on_disconnect: "continue", on_concurrency_limit: "reject" };
const chunking = { max_chunk_size_tokens: 800, chunk_overlap_tokens: 200 };

/**
 * Defaults of request fields, by the name of the request or of the object in the document. A default that depends on
 * other fields is in the field's description.
 */
export const defaults: Record<string, Values> = {
  CreateAgentRequest: { max_turns: 25 },
  CreateRunRequest: {
    ...ofEveryRun,
    if_thread_busy: "reject",
    timeout_ms: limits.run_timeout_ms,
    action_timeout_ms: limits.action_timeout_ms,
  },
  ForkRunRequest: { ...ofEveryRun, tools: "live", agent: "pinned" },
  ReplayRunRequest: { mode: "strict", agent: "pinned" },
  SubmitToolOutputsRequest: { stream: false },
  CreateToolRequest: {
    approval: "never",
    on_unknown: "ask",
    max_output_bytes: limits.tool_output_bytes,
    enabled: true,
    method: "POST",
    retries: 0,
    response: "json",
    language: "javascript",
  },
  ClientTokenLimitsInput: { requests_per_minute: 120, run_creations_per_minute: 20 },
  CreateScheduleRequest: { enabled: true, catch_up: "skip", if_busy: "start" },
  CreateTriggerRequest: {
    secret_header: null,
    enabled: true,
    input: null,
    variables: null,
    on_missing: "empty",
    thread: null,
    user: null,
    rate_limit_per_minute: 60,
  },
  RotateTriggerSecretRequest: { overlap_seconds: 86_400 },
  CreateWebhookRequest: { enabled: true },
  RotateWebhookSecretRequest: { overlap_seconds: 86_400 },
  Chunking: chunking,
  ChunkingInParts: chunking,
  CreateMemoryRequest: { scope: "project" },
  SearchMemoryRequest: { top_k: 10, mode: "hybrid", diversity: 0, neighbors: 0 },
  RerankInput: { type: "cross_encoder" },
  MemoryPolicyStoreInput: { access: "read", top_k: 6, score_threshold: 0 },
  HistoryPolicyInput: { mode: "thread", max_messages: 50 },
  ContextPolicyInput: { strategy: "compact", reserve_output_tokens: 4096, tool_output_max_bytes: 40_000 },
};

export const defaultOf = (component: string, field: string): unknown => defaults[component]?.[field];
