import type { Static } from "@sinclair/typebox";
import { errorCodes } from "../core/errors.ts";
import { anyObject, list, named, object, oneOf, optional, orNull, text } from "./schema.ts";

/** What every refusal says; `errors` has every fault where there is more than one. */
export const ErrorBody = named(
  "Error",
  object({
    error: object({
      type: text,
      code: oneOf(errorCodes),
      message: text,
      param: orNull(text),
      doc_url: text,
      errors: optional(list(object({ param: orNull(text), code: text, message: text }))),
      details: optional(anyObject),
    }),
    request_id: text,
  }),
);
export type ErrorBody = Static<typeof ErrorBody>;
