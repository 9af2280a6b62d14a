import type { ModelSettings } from "./model.ts";

type Effort = NonNullable<ModelSettings["reasoning_effort"]>;

/** Share of the answer for thinking by effort, for providers that count thinking in tokens. */
const shares: Record<Exclude<Effort, "none">, number> = { minimal: 0.02, low: 0.1, medium: 0.3, high: 0.6, max: 0.9 };

/**
 * Returns the thinking budget of an answer in tokens. Thinking is paid as output, so it is part of `max_output_tokens`.
 * Returns null if the request has no maximum, or asks for no thinking.
 */
export function thinkingBudget({ max_output_tokens, reasoning_effort = "none" }: ModelSettings): number | null {
  if (max_output_tokens === undefined || reasoning_effort === "none") return null;
  return Math.round(max_output_tokens * shares[reasoning_effort]);
}

/**
 * Rounds a budget to one of four steps between powers of two. It follows from what the run may still spend, and each
 * change of it would lose the cache of the conversation.
 */
export function stepOf(budget: number): number {
  const step = Math.max(1, 2 ** (Math.floor(Math.log2(Math.max(budget, 1))) - 2));
  return Math.round(budget / step) * step;
}
