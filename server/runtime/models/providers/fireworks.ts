import { type ChatDialect, effortWords, plainDialect } from "../chat-dialect.ts";

/** Fireworks: `reasoning_content` both ways. */
export const dialect: ChatDialect = {
  ...plainDialect,
  base_url: "https://api.fireworks.ai/inference/v1",
  effort: effortWords({ none: "none", minimal: "low", low: "low", medium: "medium", high: "high", max: "high" }),
  reasoning: "reasoning_content",
  omits: new Set(["extra_content"]),
};
