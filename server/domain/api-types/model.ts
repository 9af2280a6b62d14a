import type { Static } from "@sinclair/typebox";
import * as t from "../../lib/schema.ts";
import { priceSources } from "../price.ts";
import { HasMore, Id, objectOf } from "./fields.ts";
import { envelope } from "./schema.ts";

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
        input: t.about("Of prompt tokens.", t.number),
        cached_input: t.about("Of prompt tokens that the provider took from its cache.", t.number),
        cache_write_5m: t.about(
          "Of prompt tokens that the provider wrote to its cache, for five minutes or its usual time; absent: as other input.",
          t.optional(t.number),
        ),
        cache_write_1h: t.about(
          "Of prompt tokens that the provider wrote to its cache for an hour; absent: as other input.",
          t.optional(t.number),
        ),
        output: t.about("Of answer tokens.", t.number),
        as_of: t.about("From when the price is; null where that is not known.", t.orNull(t.text)),
        source: t.about("Whether the price is built in, or the operator's.", t.oneOf(priceSources)),
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
