import { type ChatDialect, effortWords, plainDialect } from "../chat-dialect.ts";

/** xAI. Its models without a choice of effort refuse the field, which is learnt. */
export const dialect: ChatDialect = {
  ...plainDialect,
  base_url: "https://api.x.ai/v1",
  limit: "max_completion_tokens",
  effort: effortWords({ none: "none", minimal: "low", low: "low", medium: "medium", high: "high", max: "high" }),
  omits: new Set(["extra_content"]),
};
