import type { ModelUsage } from "./model-call.ts";
import type { ModelPrice } from "./price.ts";
import { ratesFor } from "./rates.ts";

type TokenPrices = Pick<ModelPrice, "input" | "cached_input" | "output" | "priced_up_to" | "long_context">;
type Counted = Omit<ModelUsage, "reasoning_tokens"> & Partial<ModelUsage>;

/** Sums use whole nano-dollars, so that they are exact in any order. */
export const nanoUsd = (usd: number): number => Math.round(usd * 1e9);
export const usdOf = (nano: number): number => nano / 1e9;

/** Cost of tokens in nano-dollars. */
export const nanoOf = (tokens: number, usdPerMillion: number): number => tokens * usdPerMillion * 1000;

/** Cost of one call in USD, rounded to the nano-dollar; null if the price or a count is unknown. */
export function costOf(listed: TokenPrices | null, usage: Counted): number | null {
  const { input_tokens: input, output_tokens: output } = usage;
  if (!listed || input === null || output === null || input > (listed.priced_up_to ?? input)) return null;
  const price = ratesFor(listed, input);
  // Providers omit the cached count if nothing was cached.
  const cached = Math.min(usage.cached_input_tokens ?? 0, input);
  const inputNano = nanoOf(input - cached, price.input) + nanoOf(cached, price.cached_input);
  return usdOf(Math.round(inputNano + nanoOf(output, price.output)));
}
