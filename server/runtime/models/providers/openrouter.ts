import { type ChatDialect, plainDialect } from "../chat-dialect.ts";

/** OpenRouter: one `reasoning` object for all models, and `reasoning_details` that go back unchanged. */
export const dialect: ChatDialect = {
  ...plainDialect,
  base_url: "https://openrouter.ai/api/v1",
  effort: (effort) => ({ reasoning: { effort: effort === "max" ? "xhigh" : effort } }),
};
