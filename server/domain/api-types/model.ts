import type { Static } from "@sinclair/typebox";
import * as t from "../../lib/schema.ts";
import { priceSources } from "../price.ts";
import { HasMore, Id, objectOf } from "./fields.ts";
import { envelope } from "./schema.ts";

const rates = {
  input: t.about("Of prompt tokens.", t.number),
  cached_input: t.about("Of prompt tokens that the provider took from its cache.", t.number),
  output: t.about("Of answer tokens.", t.number),
  cache_write_5m: t.about(
    "Of prompt tokens that the provider writes to its cache for five minutes; absent if they cost as `input`.",
    t.optional(t.number),
  ),
  cache_write_1h: t.about("The same for an hour.", t.optional(t.number)),
};

const Model = t.named(
  "Model",
  t.object({
    id: Id,
    object: objectOf("model"),
    provider: t.about("The model's provider.", t.text),
    available: t.about("Whether there is a connection to its provider.", t.boolean),
    context_window: t.about(
      "How many tokens a prompt and its answer may have together; null if unknown.",
      t.orNull(t.integer),
    ),
    prices: t.about(
      "Prices of a million tokens, in US dollars.",
      t.object({
        ...rates,
        long_context: t.about(
          "The prices of the whole call if its prompt is longer than `above`; absent if the length does not matter.",
          t.optional(
            t.named("LongContextPrices", t.object({ above: t.about("Tokens of the prompt.", t.integer), ...rates })),
          ),
        ),
        as_of: t.about("From when the price is; null where that is not known.", t.orNull(t.text)),
        source: t.about(
          "Whether the price is built in, of the table that the operator loaded, or set by the operator.",
          t.oneOf(priceSources),
        ),
        estimated: t.about(
          "True if the price is not the model's own: that of its dearest relative, or of the dearest hour.",
          t.optional(t.boolean),
        ),
        reference: t.about("The page or file that lists the price; absent if the operator set it.", t.optional(t.text)),
        priced_up_to: t.about("The longest prompt, in tokens, to which the prices apply.", t.optional(t.integer)),
        max_output_tokens: t.about("How many tokens an answer may have, its thinking included.", t.optional(t.integer)),
      }),
    ),
  }),
);

export const ModelList = t.named(
  "ModelList",
  t.object({
    object: objectOf("list"),
    data: t.about("The items of this page.", t.list(Model)),
    has_more: HasMore,
    ...envelope,
  }),
);
export type ModelList = Static<typeof ModelList>;
