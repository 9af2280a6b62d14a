import type { ModelPrice } from "./price.ts";

export type Rates = Pick<ModelPrice, "input" | "cached_input" | "output" | "cache_write_5m" | "cache_write_1h">;

/** Returns the rates for a prompt of this length: above a threshold, other ones apply to the whole call. */
export const ratesFor = <Price extends Rates & Pick<ModelPrice, "long_context">>(
  price: Price,
  input_tokens: number,
): Rates => (price.long_context && input_tokens > price.long_context.above ? price.long_context : price);
