import type { Static } from "@sinclair/typebox";
import {
  boolean,
  envelope,
  integer,
  list,
  named,
  number,
  object,
  oneOf,
  optional,
  orNull,
  text,
  word,
} from "./schema.ts";

const Model = named(
  "Model",
  object({
    id: text,
    object: word("model"),
    provider: text,
    available: boolean,
    context_window: orNull(integer),
    prices: object({
      input: number,
      cached_input: number,
      output: number,
      as_of: orNull(text),
      source: oneOf(["built_in", "operator"]),
      priced_up_to: optional(integer),
      max_output_tokens: optional(integer),
    }),
  }),
);

export const ModelList = named(
  "ModelList",
  object({ object: word("list"), data: list(Model), has_more: boolean, ...envelope }),
);
export type ModelList = Static<typeof ModelList>;
