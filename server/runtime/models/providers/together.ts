import { type ChatDialect, type Effort, plainDialect } from "../chat-dialect.ts";

const levels: Record<Exclude<Effort, "none">, string> = {
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
  max: "high",
};

/** Together: models that can think or not have a switch, those with levels an effort. */
export const dialect: ChatDialect = {
  ...plainDialect,
  base_url: "https://api.together.xyz/v1",
  effort: (effort) => (effort === "none" ? { reasoning: { enabled: false } } : { reasoning_effort: levels[effort] }),
  reasoning: "reasoning",
  omits: new Set(["extra_content"]),
};
