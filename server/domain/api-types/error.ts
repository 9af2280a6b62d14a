import type { Static } from "@sinclair/typebox";
import * as t from "../../lib/schema.ts";
import { errorCodes } from "../errors.ts";
import { ErrorCode, ErrorMessage } from "./fields.ts";

/** Error response; `errors` lists every fault if there is more than one. */
export const ErrorBody = t.named(
  "ErrorResponse",
  t.object({
    error: t.about(
      "What went wrong.",
      t.named(
        "ErrorDetail",
        t.object({
          type: t.about("The group that the code belongs to, such as `invalid_request_error`.", t.text),
          code: t.about("What went wrong, for programs.", t.oneOf(errorCodes)),
          message: ErrorMessage,
          param: t.about("The parameter that caused the error; null if there is none.", t.orNull(t.text)),
          doc_url: t.about("Where the code is explained.", t.text),
          errors: t.about(
            "Every error in the request, if there is more than one.",
            t.optional(
              t.list(
                t.named(
                  "RequestFault",
                  t.object({
                    param: t.about("The parameter that caused the error; null if there is none.", t.orNull(t.text)),
                    code: ErrorCode,
                    message: ErrorMessage,
                  }),
                ),
              ),
            ),
          ),
          details: t.about(
            "Further facts, whose names depend on the code; absent for most codes.",
            t.optional(t.anyObject),
          ),
        }),
      ),
    ),
    request_id: t.about("The request's id, as in the header `X-Request-Id`.", t.text),
  }),
);
export type ErrorBody = Static<typeof ErrorBody>;
