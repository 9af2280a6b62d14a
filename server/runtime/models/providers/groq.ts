import { type ChatDialect, type Effort, plainDialect } from "../chat-dialect.ts";

const levels: Record<Effort, string | null> = {
  none: null,
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
  max: "high",
};

/** Returns the word of an effort: gpt-oss has levels, Qwen reasons or does not, other models have no such field. */
function effortWord(effort: Effort, model: string): string | null {
  if (model.includes("gpt-oss")) return levels[effort];
  if (model.includes("qwen")) return effort === "none" ? "none" : "default";
  return null;
}

/** Groq: `reasoning` both ways, and it refuses `reasoning_content`. */
export const dialect: ChatDialect = {
  ...plainDialect,
  base_url: "https://api.groq.com/openai/v1",
  limit: "max_completion_tokens",
  effort(effort, model) {
    const reasoning_effort = effortWord(effort, model);
    return reasoning_effort === null ? null : { reasoning_effort };
  },
  reasoning: "reasoning",
  omits: new Set(["extra_content"]),
};
