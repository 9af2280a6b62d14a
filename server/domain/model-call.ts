import { type Static, Type } from "@sinclair/typebox";
import { about, closedObject, named, oneOf, optional, orNull } from "../lib/schema.ts";
import { Count, CountOrNull, Flag, Hash, Id, Json, many, Short, Text } from "./fields.ts";
import type { ProviderTool } from "./provider-tools.ts";
import type { reasoningEfforts, toolChoices } from "./providers.ts";

/** A JSON Schema (2020-12) as data, validated where it enters. */
export type JsonSchema = Record<string, unknown>;

/**
 * Parts of a model's answer, in order. `metadata` belongs to the provider (signatures of reasoning) and is sent back
 * unchanged.
 */
export const AssistantPart = Type.Union([
  closedObject({ type: Type.Literal("text"), text: Text, metadata: optional(Json) }),
  closedObject({ type: Type.Literal("reasoning"), text: Text, metadata: optional(Json) }),
  closedObject({ type: Type.Literal("tool_call"), id: Id, name: Short, arguments: Text, metadata: optional(Json) }),
]);
export type AssistantPart = Static<typeof AssistantPart>;

/** An image or a recording by its content. */
const image = { file_id: Id, mime_type: Short, sha256: Hash };
export const ImageFacts = closedObject(image);
export type ImageFacts = Static<typeof ImageFacts>;

/** A document of a message. */
export const MessageFile = closedObject({ ...image, filename: Short });
export type MessageFile = Static<typeof MessageFile>;

/** Base64, only in a request that is being sent. */
const data = { data: optional(Text) };

/** Prompts are hashed and journaled without the bytes, which are fetched for each request. */
const PromptImage = closedObject({ ...image, ...data });
export type PromptImage = Static<typeof PromptImage>;

/**
 * A PDF for a model that reads PDFs, or sees its pages. `text` is for models that do not read PDFs; null if it could not
 * be read. `page_images`: how many pages are shown as images beside the text; absent if the model reads PDFs.
 */
const PromptDocument = closedObject({
  ...image,
  filename: Short,
  pages: Count,
  text: orNull(Text),
  page_images: optional(Count),
  ...data,
});
export type PromptDocument = Static<typeof PromptDocument>;

/** Conversation in a format for all providers. Plain JSON, so that it can be hashed and sent to workers. */
export const PromptMessage = Type.Union([
  closedObject({ role: Type.Literal("system"), content: Text }),
  closedObject({
    role: Type.Literal("user"),
    content: Text,
    images: optional(many(PromptImage)),
    audio: optional(many(PromptImage)),
    documents: optional(many(PromptDocument)),
    /** Documents of the message, as a later run of its thread finds them. */
    files: optional(many(MessageFile)),
  }),
  closedObject({ role: Type.Literal("assistant"), parts: many(AssistantPart) }),
  closedObject({
    role: Type.Literal("tool"),
    call_id: Id,
    tool: Short,
    output: Text,
    is_error: Flag,
    images: optional(many(PromptImage)),
  }),
]);
export type PromptMessage = Static<typeof PromptMessage>;

export interface ModelTool {
  name: string;
  description: string;
  parameters: JsonSchema;
}

/** One entry of `model_settings.script`, for `test/script`: the behaviour of a run's nth model call. */
export interface ScriptEntry {
  text?: string;
  reasoning?: string;
  tool_calls?: { name: string; arguments: Record<string, unknown> }[];
  error?: string;
  delay_ms?: number;
  delta_ms?: number;
}

export const promptCachings = ["auto", "off"] as const;
export type PromptCaching = (typeof promptCachings)[number];

export interface ModelSettings {
  temperature?: number;
  max_output_tokens?: number;
  reasoning_effort?: (typeof reasoningEfforts)[number];
  parallel_tool_calls?: boolean;
  top_p?: number;
  seed?: number;
  /** Stop sequences. */
  stop?: string[];
  /** Forces a tool call only in the first call of a run; other values apply to each call. */
  tool_choice?: (typeof toolChoices)[number] | { name: string };
  /** Options of a provider that runnel has no setting for, under the names of its SDK or its API. */
  provider_options?: Record<string, unknown>;
  /** Further headers of each request; values may have references to secrets. */
  headers?: Record<string, string>;
  /** Further fields of each request's body. */
  extra_body?: Record<string, unknown>;
  /** `auto`: the request asks the provider to cache the prompt; absent: it does not. Only in a request that is sent. */
  prompt_caching?: PromptCaching;
  /** Names prompts with the same beginning, for providers that route by it. Only in a request that is being sent. */
  prompt_cache_key?: string;
  /** True if no later call continues this prompt. Only in a request that is being sent. */
  is_last_prompt?: true;
  /**
   * Length of the system prompt up to its first variable, in UTF-16 code units: other runs begin with the same text. Only
   * in a request that is being sent.
   */
  stable_length?: number;
  script?: ScriptEntry[];
  /** Number of script entries already used, if the prompt does not show it. */
  script_at?: number;
}

export interface ModelRequest {
  messages: PromptMessage[];
  tools: ModelTool[];
  settings: ModelSettings;
  output_schema?: JsonSchema;
  /** Only in a request that is being sent: it has secrets. */
  extras?: RequestExtras;
  /** Tools that the provider runs itself. */
  provider_tools?: ProviderTool[];
}

/** Parts of a request that an agent adds to those of the server. */
interface RequestExtras {
  headers: Record<string, string>;
  /** Values of the secrets in the headers: no answer and no error may have them. */
  secrets: string[];
  body: Record<string, unknown>;
  options: Record<string, unknown>;
}

/** Prompt tokens written to the provider's cache. Absent: the provider does not count them, or has no such cache. */
export const cacheWrites = {
  cache_write_5m_tokens: about(
    "Prompt tokens that the provider wrote to its cache, for five minutes or its usual time; null if unknown. Absent where it does not count them.",
    optional(CountOrNull),
  ),
  cache_write_1h_tokens: about(
    "Prompt tokens that the provider wrote to its cache for an hour; null if unknown. Absent where it does not count them.",
    optional(CountOrNull),
  ),
};

/** Token counts of one call. Null is unknown, 0 is zero: a provider that does not count is never recorded as free. */
export const ModelUsage = closedObject({
  input_tokens: about(
    "Tokens of the prompts, including those read from or written to a cache; null where they are not known.",
    CountOrNull,
  ),
  output_tokens: about("Tokens of the answers; null where they are not known.", CountOrNull),
  cached_input_tokens: about("Prompt tokens that the provider read from its cache.", CountOrNull),
  reasoning_tokens: about(
    "Tokens that the model used to think, a part of `output_tokens`; null if unknown.",
    CountOrNull,
  ),
  ...cacheWrites,
  /** Uses of the provider's own tools, which it charges beside the tokens. */
  web_searches: about("Searches of the provider's web search; absent without any.", optional(Count)),
  code_executions: about("Uses of the provider's code execution; absent without any.", optional(Count)),
  service_tier: about(
    "The tier in which the provider answered, such as `flex` or `priority`; absent for its standard one, unless another was asked for.",
    optional(Short),
  ),
});
export type ModelUsage = Static<typeof ModelUsage>;

/** A difference between a request and what was asked for, because the provider or its server does not take it. */
export const RequestAdjustment = named(
  "RequestAdjustment",
  closedObject({
    field: about("The setting, or the field of the request.", Short),
    message: about("What was sent instead, in a sentence.", Text),
  }),
);
export type RequestAdjustment = Static<typeof RequestAdjustment>;

/** `pause`: the provider paused a long turn of its own tools, and goes on if the answer is sent back. */
export const FinishReason = oneOf(["stop", "tool_calls", "length", "content_filter", "pause", "other"]);
export type FinishReason = Static<typeof FinishReason>;
