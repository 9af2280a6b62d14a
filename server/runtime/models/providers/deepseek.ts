import { type ChatDialect, type Effort, plainDialect } from "../chat-dialect.ts";

const levels: Record<Exclude<Effort, "none">, string> = {
  minimal: "low",
  low: "low",
  medium: "high",
  high: "high",
  max: "max",
};

/** DeepSeek: thinking has a switch, calls need their reasoning back, and JSON has no schema. */
export const dialect: ChatDialect = {
  ...plainDialect,
  base_url: "https://api.deepseek.com",
  effort: (effort) =>
    effort === "none"
      ? { thinking: { type: "disabled" } }
      : { thinking: { type: "enabled" }, reasoning_effort: levels[effort] },
  reasoning: "reasoning_content",
  requires_reasoning: true,
  no_content: "",
  format: "json",
  omits: new Set(["seed", "parallel_tool_calls", "extra_content"]),
};
