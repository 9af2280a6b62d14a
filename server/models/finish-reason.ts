import type { FinishReason } from "./port.ts";

/** How providers and model servers spell each end of an answer, in lower case. */
const spellings: Record<Exclude<FinishReason, "other">, readonly string[]> = {
  stop: ["stop", "stop_sequence", "end_turn", "eos", "eos_token", "endoftext", "complete", "completed", "normal"],
  tool_calls: ["tool_calls", "tool_call", "tool_use", "function_call"],
  length: [
    "length",
    "max_tokens",
    "max_output_tokens",
    "model_length",
    "model_context_window_exceeded",
    "continuation",
    "token_limit",
    "time_limit",
  ],
  content_filter: [
    "content_filter",
    "content_filtered",
    "refusal",
    "sensitive",
    "guardrail_intervened",
    "safety",
    "image_safety",
    "recitation",
    "blocklist",
    "prohibited_content",
    "spii",
  ],
};

const known = new Map(
  Object.entries(spellings).flatMap(([finish, words]) => words.map((word) => [word, finish as FinishReason] as const)),
);

/**
 * How an answer ended, by its provider's own word for it. Returns null if the word is no known end: the provider failed
 * (`network_error`), or the answer may lack something. Some servers add details behind a colon.
 */
export const finishOf = (reason: string): FinishReason | null =>
  known.get(reason.split(":")[0]!.trim().toLowerCase()) ?? null;
