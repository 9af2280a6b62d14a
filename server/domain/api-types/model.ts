import type { Static } from "@sinclair/typebox";
import * as t from "../../lib/schema.ts";
import { listErrorCodes, modelFeatures, modelKinds } from "../listed-model.ts";
import { priceSources } from "../price.ts";
import { HasMore, objectOf } from "./fields.ts";
import { envelope } from "./schema.ts";

const rates = {
  input: t.about("For prompt tokens.", t.number),
  cached_input: t.about("Of prompt tokens that the provider took from its cache.", t.number),
  output: t.about("For the tokens of answers, thinking included.", t.number),
  cache_write_5m: t.about(
    "Of prompt tokens that the provider writes to its cache for five minutes; absent if they cost as `input`.",
    t.optional(t.number),
  ),
  cache_write_1h: t.about(
    "For prompt tokens that the provider writes to its cache for an hour; absent if they cost as `input`.",
    t.optional(t.number),
  ),
};

const Model = t.named(
  "Model",
  t.object({
    id: t.about("What agents give as `model`: `<connection>/<model>`.", t.text),
    object: objectOf("model"),
    provider: t.about("The provider whose protocol and prices apply, such as `openai`.", t.text),
    connection: t.about("The connection that serves it, as the first part of its id.", t.text),
    name: t.about("Its name for people; null if its server gives none.", t.orNull(t.text)),
    kind: t.about("What it is for: agents need `chat`.", t.oneOf(modelKinds)),
    available: t.about("Whether there is a connection to its provider.", t.boolean),
    listed: t.about("Whether its server lists it; null where the server's list is not known.", t.orNull(t.boolean)),
    deprecated: t.about("Whether its server says that it is out of use.", t.boolean),
    features: t.about(
      "What it takes, where its server's list says so; null where it does not.",
      t.orNull(t.list(t.oneOf(modelFeatures))),
    ),
    context_window: t.about(
      "How many tokens a prompt and its answer may have together; null if unknown.",
      t.orNull(t.integer),
    ),
    max_output_tokens: t.about("How many tokens an answer may have; null if unknown.", t.orNull(t.integer)),
    prices: t.about(
      "Prices of a million tokens, in US dollars; null if unknown.",
      t.orNull(
        t.object({
          ...rates,
          long_context: t.about(
            "The prices of the whole call if its prompt is longer than `above`; absent if the length does not matter.",
            t.optional(
              t.named(
                "LongContextPrices",
                t.object({
                  above: t.about("How many tokens the prompt must have more than, for these prices.", t.integer),
                  ...rates,
                }),
              ),
            ),
          ),
          as_of: t.about("From when the price is; null where that is not known.", t.orNull(t.text)),
          source: t.about(
            "Whether the price is built in, of the table that the operator loaded, set by the operator, or of the server's own list.",
            t.oneOf(priceSources),
          ),
          estimated: t.about(
            "True if the price is not the model's own: that of its dearest relative, or of the dearest hour.",
            t.optional(t.boolean),
          ),
          reference: t.about(
            "The page or file that lists the price; absent if the operator set it.",
            t.optional(t.text),
          ),
          priced_up_to: t.about("The longest prompt, in tokens, to which the prices apply.", t.optional(t.integer)),
          max_output_tokens: t.about(
            "How many tokens an answer may have, its thinking included.",
            t.optional(t.integer),
          ),
        }),
      ),
    ),
  }),
);

/** State of a connection's list: no address, no key and no words of the server. */
const ModelSource = t.named(
  "ModelSource",
  t.object({
    connection: t.about("The connection, as the first part of its models' ids.", t.text),
    models: t.about("How many models its server lists; null while that is not known.", t.orNull(t.integer)),
    read_at: t.about("When the list was read; null if it never was.", t.orNull(t.time)),
    reading: t.about("Whether it is being read now.", t.boolean),
    error: t.about(
      "Why it could not be read the last time; the list before that stays.",
      t.orNull(
        t.object({
          code: t.about("What went wrong, for programs.", t.oneOf(listErrorCodes)),
          message: t.about("What went wrong, for people; it may change.", t.text),
        }),
      ),
    ),
  }),
);

export const ModelList = t.named(
  "ModelList",
  t.object({
    object: objectOf("list"),
    data: t.about("The items of this page.", t.list(Model)),
    has_more: HasMore,
    first_id: t.about("The first item's id, or null.", t.orNull(t.text)),
    last_id: t.about("The last item's id, or null: the cursor of the next page.", t.orNull(t.text)),
    connections: t.about("Where the models come from, one entry for each connection.", t.list(ModelSource)),
    ...envelope,
  }),
);
export type ModelList = Static<typeof ModelList>;
