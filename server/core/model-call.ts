/** A JSON Schema (2020-12) as data; what it says is checked where it enters. */
export type JsonSchema = Record<string, unknown>;

/** What a model said, in order. `metadata` is the provider's own (signatures of reasoning): given back as it came. */
export type AssistantPart =
  | { type: "text"; text: string; metadata?: Record<string, unknown> }
  | { type: "reasoning"; text: string; metadata?: Record<string, unknown> }
  | { type: "tool_call"; id: string; name: string; arguments: string; metadata?: Record<string, unknown> };

/** The conversation as every provider gets it. Plain JSON, so that it can be hashed and sent between threads. */
export type PromptMessage =
  | { role: "system"; content: string }
  | { role: "user"; content: string; images?: PromptImage[] }
  | { role: "assistant"; parts: AssistantPart[] }
  | { role: "tool"; call_id: string; tool: string; output: string; is_error: boolean };

/** An image by its content: requests are hashed and journaled without the bytes, which are fetched when one is sent. */
export interface PromptImage {
  file_id: string;
  mime_type: string;
  sha256: string;
  /** In base64, only in a request that is being sent. */
  data?: string;
}

export interface ModelTool {
  name: string;
  description: string;
  parameters: JsonSchema;
}

/** One entry of `model_settings.script`, for `test/script`: what the model does at the nth call of a run. */
export interface ScriptEntry {
  text?: string;
  reasoning?: string;
  tool_calls?: { name: string; arguments: Record<string, unknown> }[];
  error?: string;
  delay_ms?: number;
  delta_ms?: number;
}

export const reasoningEfforts = ["none", "minimal", "low", "medium", "high", "max"] as const;

export interface ModelSettings {
  temperature?: number;
  max_output_tokens?: number;
  reasoning_effort?: (typeof reasoningEfforts)[number];
  parallel_tool_calls?: boolean;
  script?: ScriptEntry[];
  /** How many of its entries the run has had, where its prompt does not show it. */
  script_at?: number;
}

export interface ModelRequest {
  messages: PromptMessage[];
  tools: ModelTool[];
  settings: ModelSettings;
  output_schema?: JsonSchema;
}

/** Counts of one call. Null is unknown, 0 is zero: a provider that does not count is never recorded as free. */
export interface ModelUsage {
  input_tokens: number | null;
  output_tokens: number | null;
  cached_input_tokens: number | null;
  reasoning_tokens: number | null;
}

export type FinishReason = "stop" | "tool_calls" | "length" | "content_filter" | "other";
