import type { ModelSettings } from "./model.ts";
import type { Format } from "./model-stream.ts";

export type Effort = NonNullable<ModelSettings["reasoning_effort"]>;

/** Parts of a chat request that a server may refuse: it answers without them. `reasoning` is that of earlier answers. */
export const optionalFields = [
  "stream_options",
  "parallel_tool_calls",
  "temperature",
  "top_p",
  "seed",
  "stop",
  "tool_choice",
  "reasoning_effort",
  "strict",
  "extra_content",
  "reasoning",
] as const;
export type OptionalField = (typeof optionalFields)[number];

/** Names under which the reasoning of an earlier answer is sent back; `content_parts`: before its text. */
export type ReasoningName = "reasoning_content" | "reasoning" | "content_parts";

/** The differences of a server with OpenAI's chat completions, as data. */
export interface ChatDialect {
  /** Default address of the API; null: each connection has its own. */
  base_url: string | null;
  /** `azure`: models are deployments, and older versions of the API have them in the path. */
  address: "plain" | "azure";
  key_header: "authorization" | "api-key";
  limit: "max_tokens" | "max_completion_tokens";
  seed: "seed" | "random_seed";
  /** Returns the fields that ask for a reasoning effort; null if the model has none. */
  effort(effort: Effort, model: string): Record<string, unknown> | null;
  reasoning: ReasoningName | "as_it_came";
  /** True if answers with calls are refused without `reasoning_content`, even an empty one. */
  requires_reasoning: boolean;
  /** Ids of tool calls: ours, or nine letters and digits. */
  call_ids: "own" | "short";
  /** Content of an answer that has only calls. */
  no_content: null | "";
  /** Content of a tool's result without a text. */
  no_output: string;
  /** The first format that is tried for structured output. */
  format: Format;
  omits: ReadonlySet<OptionalField>;
}

/** OpenAI's own words, which most servers understand. */
export const plainDialect: ChatDialect = {
  base_url: null,
  address: "plain",
  key_header: "authorization",
  limit: "max_tokens",
  seed: "seed",
  effort: (reasoning_effort) => ({ reasoning_effort }),
  reasoning: "as_it_came",
  requires_reasoning: false,
  call_ids: "own",
  no_content: null,
  no_output: "",
  format: "schema",
  omits: new Set(),
};

/** Returns the header with a connection's key; none without a key. */
export function keyHeader({ key_header }: ChatDialect, api_key: string | null): Record<string, string> {
  if (!api_key) return {};
  return key_header === "api-key" ? { "api-key": api_key } : { authorization: `Bearer ${api_key}` };
}

/** Returns an `effort` that says each effort with a provider's own word; null for an effort without a word. */
export const effortWords = (words: Partial<Record<Effort, string>>) => (effort: Effort) =>
  words[effort] === undefined ? null : { reasoning_effort: words[effort] };

/** A change that makes a server accept a request: a part that is left out, or another form of it. */
export type Adaptation =
  | OptionalField
  | "max_tokens"
  | "max_completion_tokens"
  | "required_reasoning"
  | "short_call_ids"
  | "text_content"
  | "tool_output";

const changes: Record<Exclude<Adaptation, OptionalField>, Partial<ChatDialect>> = {
  max_tokens: { limit: "max_tokens" },
  max_completion_tokens: { limit: "max_completion_tokens" },
  required_reasoning: { reasoning: "reasoning_content", requires_reasoning: true },
  short_call_ids: { call_ids: "short" },
  text_content: { no_content: "" },
  tool_output: { no_output: "(no output)" },
};

const isField = (adaptation: string): adaptation is OptionalField =>
  optionalFields.some((field) => field === adaptation);

export const isAdaptation = (name: string): name is Adaptation => isField(name) || Object.hasOwn(changes, name);

/** Returns the dialect after these adaptations; of two that contradict each other, the later one counts. */
export function adapted(dialect: ChatDialect, adaptations: Iterable<Adaptation>): ChatDialect {
  const result = { ...dialect, omits: new Set(dialect.omits) };
  for (const each of adaptations)
    if (isField(each)) result.omits.add(each);
    else Object.assign(result, changes[each]);
  return result;
}
