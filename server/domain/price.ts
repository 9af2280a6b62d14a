import { type Static, Type } from "@sinclair/typebox";
import { closedObject, oneOf, optional, orNull } from "../lib/schema.ts";
import { Count, Short, True } from "./fields.ts";

const PerMillion = Type.Number({ minimum: 0 });

/**
 * Origins of a price: the built-in table, a table that the operator loaded, a price that the operator set, or the list
 * of models of the connection's server.
 */
export const priceSources = ["built_in", "table", "operator", "server"] as const;

const rates = {
  input: PerMillion,
  cached_input: PerMillion,
  output: PerMillion,
  /** Prompt tokens that the provider writes to its cache for five minutes; absent: as `input`. */
  cache_write_5m: optional(PerMillion),
  /** The same for an hour. */
  cache_write_1h: optional(PerMillion),
};

/** Price of a model, in USD per million tokens. */
export const ModelPrice = closedObject({
  ...rates,
  /** Prices of the whole call if its prompt is longer than `above`. */
  long_context: optional(closedObject({ above: Count, ...rates })),
  /** Longer prompts have other, unknown prices, so their cost is unknown too. */
  priced_up_to: optional(Count),
  /** Maximal output tokens of a call. */
  max_output_tokens: optional(Count),
  /** The model is not listed, or its price depends on the hour: the price is that of its dearest relative or hour. */
  estimated: optional(True),
  /** Day or month of this price; null for built-in models, which are free. */
  as_of: orNull(Short),
  source: oneOf(priceSources),
});
export type ModelPrice = Static<typeof ModelPrice>;

/** Returns the prices of writing to a cache, which follow from that of input for Claude, at every provider. */
export const cacheWritePrices = (
  model: string,
  input: number,
): Pick<ModelPrice, "cache_write_5m" | "cache_write_1h"> =>
  /^anthropic\/|claude/.test(model) ? { cache_write_5m: input * 1.25, cache_write_1h: input * 2 } : {};
