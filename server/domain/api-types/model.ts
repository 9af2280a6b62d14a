import type { Static } from "@sinclair/typebox";
import * as t from "../../lib/schema.ts";
import { envelope } from "./schema.ts";

const Model = t.named(
  "Model",
  t.object({
    id: t.text,
    object: t.word("model"),
    provider: t.text,
    available: t.boolean,
    context_window: t.orNull(t.integer),
    prices: t.object({
      input: t.number,
      cached_input: t.number,
      output: t.number,
      as_of: t.orNull(t.text),
      source: t.oneOf(["built_in", "operator"]),
      priced_up_to: t.optional(t.integer),
      max_output_tokens: t.optional(t.integer),
    }),
  }),
);

export const ModelList = t.named(
  "ModelList",
  t.object({ object: t.word("list"), data: t.list(Model), has_more: t.boolean, ...envelope }),
);
export type ModelList = Static<typeof ModelList>;
