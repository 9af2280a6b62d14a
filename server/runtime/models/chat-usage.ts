import { fieldsOf } from "../../lib/json.ts";
import type { ModelUsage } from "./model.ts";

type Fields = Record<string, unknown>;

// No model reads or writes as many tokens in one call, so a higher count is wrong.
const tokensMax = 100_000_000;

/** Returns the token counts of a chat completion, under the names of all known servers. */
export function chatUsage(usage: Fields): ModelUsage {
  const input_tokens = countOf(usage.prompt_tokens ?? usage.input_tokens);
  const output_tokens = countOf(usage.completion_tokens ?? usage.output_tokens);
  const details = fieldsOf(usage.completion_tokens_details ?? usage.output_tokens_details);
  const reasoning_tokens = countOf(details.reasoning_tokens ?? usage.reasoning_tokens);
  // Some providers count reasoning beside the answer, as their total shows.
  const isBeside =
    reasoning_tokens !== null && usage.total_tokens === (input_tokens ?? 0) + (output_tokens ?? 0) + reasoning_tokens;
  const cache_write_5m_tokens = atMost(cacheWriteTokens(usage), input_tokens);
  return {
    input_tokens,
    output_tokens: output_tokens !== null && isBeside ? output_tokens + reasoning_tokens : output_tokens,
    cached_input_tokens: atMost(cachedTokens(usage), input_tokens),
    reasoning_tokens: isBeside ? reasoning_tokens : atMost(reasoning_tokens, output_tokens),
    ...(cache_write_5m_tokens !== null && { cache_write_5m_tokens }),
  };
}

/** Tokens read from a cache: OpenAI, DeepSeek and Moonshot have a field each. */
function cachedTokens(usage: Fields): number | null {
  const details = fieldsOf(usage.prompt_tokens_details ?? usage.input_tokens_details);
  return countOf(details.cached_tokens ?? usage.prompt_cache_hit_tokens ?? usage.cached_tokens);
}

/** Tokens written to a cache, of which OpenRouter tells. */
const cacheWriteTokens = (usage: Fields): number | null =>
  countOf(fieldsOf(usage.prompt_tokens_details).cache_write_tokens);

/** Returns null for a part that is larger than its whole. */
const atMost = (part: number | null, whole: number | null): number | null =>
  part !== null && whole !== null && part > whole ? null : part;

/** Merges the counts of a later chunk. Zero does not replace a count, because some servers end with empty counts. */
export function laterUsage(before: ModelUsage, next: ModelUsage): ModelUsage {
  const later = <Name extends keyof ModelUsage>(name: Name) => next[name] || (before[name] ?? next[name]);
  const cache_write_5m_tokens = later("cache_write_5m_tokens");
  return {
    input_tokens: later("input_tokens"),
    output_tokens: later("output_tokens"),
    cached_input_tokens: later("cached_input_tokens"),
    reasoning_tokens: later("reasoning_tokens"),
    ...(cache_write_5m_tokens !== undefined && { cache_write_5m_tokens }),
  };
}

/** Returns usage in which no prompt, and no answer with content, has zero tokens: some servers send 0 for unknown. */
export const withoutZeros = (usage: ModelUsage, hasContent: boolean): ModelUsage => ({
  ...usage,
  input_tokens: usage.input_tokens || null,
  output_tokens: hasContent ? usage.output_tokens || null : usage.output_tokens,
});

/** Returns a possible count, rounded up; null for anything else. */
function countOf(value: unknown): number | null {
  const count = typeof value === "string" && /^\d+(\.\d+)?$/.test(value) ? Number(value) : value;
  return typeof count === "number" && count >= 0 && count <= tokensMax ? Math.ceil(count) : null;
}
