import { type Static, Type } from "@sinclair/typebox";
import { closedObject, oneOf, optional, orNull } from "../lib/schema.ts";
import { Count, Short } from "./fields.ts";

const PerMillion = Type.Number({ minimum: 0 });

/** `server`: the list of models of the connection's server. */
export const priceSources = ["built_in", "operator", "server"] as const;

/** Price of a model, in USD per million tokens. */
export const ModelPrice = closedObject({
  input: PerMillion,
  cached_input: PerMillion,
  /** Absent: writing to the cache costs as much as reading without one. */
  cache_write_5m: optional(PerMillion),
  cache_write_1h: optional(PerMillion),
  output: PerMillion,
  /** Longer prompts have other, unknown prices, so their cost is unknown too. */
  priced_up_to: optional(Count),
  /** Maximal output tokens of a call. */
  max_output_tokens: optional(Count),
  /** Day or month of this price; null for built-in models, which are free. */
  as_of: orNull(Short),
  source: oneOf(priceSources),
});
export type ModelPrice = Static<typeof ModelPrice>;

/** Returns what a provider charges for writing to its cache, which follows from its price of input. */
export const cacheWritePrices = (
  provider: string,
  input: number,
): Pick<ModelPrice, "cache_write_5m" | "cache_write_1h"> =>
  provider === "anthropic" ? { cache_write_5m: input * 1.25, cache_write_1h: input * 2 } : {};
