import { type Static, Type } from "@sinclair/typebox";
import { exact, oneOf, optional, orNull } from "../lib/schema.ts";
import { Count, Short } from "./fields.ts";

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
