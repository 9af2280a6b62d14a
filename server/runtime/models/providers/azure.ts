import { type ChatDialect, effortWords, plainDialect } from "../chat-dialect.ts";

/** Azure OpenAI: models are deployments, the key has a header of its own, and reasoning is neither shown nor taken. */
export const dialect: ChatDialect = {
  ...plainDialect,
  address: "azure",
  key_header: "api-key",
  limit: "max_completion_tokens",
  effort: effortWords({ none: "none", minimal: "minimal", low: "low", medium: "medium", high: "high", max: "high" }),
  omits: new Set(["reasoning", "extra_content"]),
};
