import type { FinishReason } from "./model.ts";

/** Spellings of each finish reason by providers and model servers, in lower case. */
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
  pause: ["pause_turn"],
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
 * Returns the finish reason for a provider's own word; null if it is unknown: the provider failed (`network_error`), or
 * the answer may be incomplete. Some servers add details after a colon.
 */
export function finishOf(reason: string): FinishReason | null {
  const [word = ""] = reason.split(":");
  return known.get(word.trim().toLowerCase()) ?? null;
}
