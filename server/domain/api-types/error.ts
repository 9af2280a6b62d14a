import type { Static } from "@sinclair/typebox";
import * as t from "../../lib/schema.ts";
import { errorCodes } from "../errors.ts";

/** Error response; `errors` lists every fault if there is more than one. */
export const ErrorBody = t.named(
  "ErrorResponse",
  t.object({
    error: t.named(
      "ErrorDetail",
      t.object({
        type: t.text,
        code: t.oneOf(errorCodes),
        message: t.text,
        param: t.orNull(t.text),
        doc_url: t.text,
        errors: t.optional(
          t.list(t.named("RequestFault", t.object({ param: t.orNull(t.text), code: t.text, message: t.text }))),
        ),
        details: t.optional(t.anyObject),
      }),
    ),
    request_id: t.text,
  }),
);
export type ErrorBody = Static<typeof ErrorBody>;
