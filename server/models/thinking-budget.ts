import type { ModelSettings } from "./port.ts";

type Effort = NonNullable<ModelSettings["reasoning_effort"]>;

/** Which part of an answer each effort leaves to thinking, where a provider counts thinking in tokens. */
const shares: Record<Exclude<Effort, "none">, number> = { minimal: 0.02, low: 0.1, medium: 0.3, high: 0.6, max: 0.9 };

/**
 * How many tokens of an answer a model may think, for providers that take such a number. Thinking is paid as output, so it is
 * a part of `max_output_tokens`. Returns null if the request bounds nothing, or asks for no thinking.
 */
export function thinkingBudget({ max_output_tokens, reasoning_effort = "none" }: ModelSettings): number | null {
  if (max_output_tokens === undefined || reasoning_effort === "none") return null;
  return Math.round(max_output_tokens * shares[reasoning_effort]);
}
