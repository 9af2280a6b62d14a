import { type ChatDialect, type Effort, plainDialect } from "../chat-dialect.ts";

// Large models take levels; the others reason or do not.
const levels: Record<Effort, string> = {
  none: "none",
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
  max: "high",
};

/** Mistral: ids of nine characters, reasoning as parts of the content, and no field that it does not know. */
export const dialect: ChatDialect = {
  ...plainDialect,
  base_url: "https://api.mistral.ai/v1",
  seed: "random_seed",
  effort: (effort, model) => ({
    reasoning_effort: model.includes("large") || effort === "none" ? levels[effort] : "high",
  }),
  reasoning: "content_parts",
  call_ids: "short",
  no_content: "",
  // Its streams report usage in any case.
  omits: new Set(["stream_options", "extra_content"]),
};
