import type { ModelUsage } from "./model-call.ts";
import type { ModelPrice } from "./price.ts";
import { ratesFor } from "./rates.ts";

type InputPrices = Pick<ModelPrice, "input" | "cached_input" | "cache_write_5m" | "cache_write_1h">;
type TokenPrices = InputPrices & Pick<ModelPrice, "output" | "priced_up_to" | "long_context">;
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
  return usdOf(Math.round(inputNano(price, input, usage) + nanoOf(output, price.output)));
}

/**
 * Cost of a prompt in nano-dollars. Reads and writes of the cache are parts of the prompt, so each token is paid once,
 * also if a provider reports parts that are longer than the whole.
 */
function inputNano(price: InputPrices, input: number, usage: Counted): number {
  let rest = input;
  // Providers omit a count if it is zero.
  const take = (tokens: number | null | undefined, usdPerMillion: number): number => {
    const part = Math.min(tokens ?? 0, rest);
    rest -= part;
    return nanoOf(part, usdPerMillion);
  };
  const { input: plain, cached_input, cache_write_5m = plain, cache_write_1h = plain } = price;
  const cached =
    take(usage.cache_write_1h_tokens, cache_write_1h) +
    take(usage.cache_write_5m_tokens, cache_write_5m) +
    take(usage.cached_input_tokens, cached_input);
  return cached + nanoOf(rest, plain);
}

/** Returns the highest price of a prompt's token, because a provider may read or write any part of it in its cache. */
export const dearestInput = ({ input, cached_input, cache_write_5m = 0 }: InputPrices): number =>
  Math.max(input, cached_input, cache_write_5m);
