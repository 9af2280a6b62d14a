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
