import { type Static, Type } from "@sinclair/typebox";
import { exact, oneOf, optional } from "../lib/schema.ts";
import { CountOrNull, Flag, Hash, Id, Json, many, Short, Text } from "./fields.ts";
import type { reasoningEfforts, toolChoices } from "./providers.ts";

/** A JSON Schema (2020-12) as data; what it says is checked where it enters. */
export type JsonSchema = Record<string, unknown>;

/** What a model said, in order. `metadata` is the provider's own (signatures of reasoning): given back as it came. */
export const AssistantPart = Type.Union([
  exact({ type: Type.Literal("text"), text: Text, metadata: optional(Json) }),
  exact({ type: Type.Literal("reasoning"), text: Text, metadata: optional(Json) }),
  exact({ type: Type.Literal("tool_call"), id: Id, name: Short, arguments: Text, metadata: optional(Json) }),
]);
export type AssistantPart = Static<typeof AssistantPart>;

/** An image by its content. */
const image = { file_id: Id, mime_type: Short, sha256: Hash };
export const ImageFacts = exact(image);
export type ImageFacts = Static<typeof ImageFacts>;

/** Requests are hashed and journaled without the bytes, which are fetched when one is sent. */
const PromptImage = exact({
  ...image,
  /** In base64, only in a request that is being sent. */
  data: optional(Text),
});
export type PromptImage = Static<typeof PromptImage>;

/** The conversation as every provider gets it. Plain JSON, so that it can be hashed and sent between threads. */
export const PromptMessage = Type.Union([
  exact({ role: Type.Literal("system"), content: Text }),
  exact({ role: Type.Literal("user"), content: Text, images: optional(many(PromptImage)) }),
  exact({ role: Type.Literal("assistant"), parts: many(AssistantPart) }),
  exact({ role: Type.Literal("tool"), call_id: Id, tool: Short, output: Text, is_error: Flag }),
]);
export type PromptMessage = Static<typeof PromptMessage>;

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

export interface ModelSettings {
  temperature?: number;
  max_output_tokens?: number;
  reasoning_effort?: (typeof reasoningEfforts)[number];
  parallel_tool_calls?: boolean;
  top_p?: number;
  seed?: number;
  /** Texts at which the model stops. */
  stop?: string[];
  /** Of the first call of a run, where it says that a tool must be called; else of each. */
  tool_choice?: (typeof toolChoices)[number] | { name: string };
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
export const ModelUsage = exact({
  input_tokens: CountOrNull,
  output_tokens: CountOrNull,
  cached_input_tokens: CountOrNull,
  reasoning_tokens: CountOrNull,
});
export type ModelUsage = Static<typeof ModelUsage>;

export const FinishReason = oneOf(["stop", "tool_calls", "length", "content_filter", "other"]);
export type FinishReason = Static<typeof FinishReason>;
