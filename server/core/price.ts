import { type Static, Type } from "@sinclair/typebox";
import { oneOf, optional, orNull } from "../lib/schema.ts";
import { Count, exact, Short } from "./fields.ts";
import type { ModelUsage } from "./model-call.ts";

const PerMillion = Type.Number({ minimum: 0 });

/** What a model costs, in USD per million tokens. */
export const ModelPrice = exact({
  input: PerMillion,
  cached_input: PerMillion,
  output: PerMillion,
  /** Longer prompts than this are billed at other prices, which are not known: neither is their cost. */
  priced_up_to: optional(Count),
  /** The most that one answer of the model can have. */
  max_output_tokens: optional(Count),
  /** The day or month at which this was the price; null for built-in models, which are free by nature. */
  as_of: orNull(Short),
  source: oneOf(["built_in", "operator"]),
});
export type ModelPrice = Static<typeof ModelPrice>;

/** Sums of money are whole nano-dollars: adding them up in any order comes to the same, and nothing gets lost. */
export const nanoUsd = (usd: number): number => Math.round(usd * 1e9);
export const usdOf = (nano: number): number => nano / 1e9;

/** Nano-dollars of so many tokens. */
export const nanoOf = (tokens: number, usdPerMillion: number): number => tokens * usdPerMillion * 1000;

/** Cost in USD of one call, to the nano-dollar; null if the price or a count is unknown. */
export function costOf(price: ModelPrice | null, usage: ModelUsage): number | null {
  const { input_tokens: input, output_tokens: output } = usage;
  if (!price || input === null || output === null || input > (price.priced_up_to ?? input)) return null;
  // Providers leave the cached count out when nothing was cached.
  const cached = Math.min(usage.cached_input_tokens ?? 0, input);
  const asked = nanoOf(input - cached, price.input) + nanoOf(cached, price.cached_input);
  return usdOf(Math.round(asked + nanoOf(output, price.output)));
}
