import { Type } from "@sinclair/typebox";
import type { Fault } from "../../../domain/errors.ts";
import type { ResponseFailure } from "../../../domain/response-failure.ts";
import { fault } from "../../../http/errors.ts";
import * as t from "../../../lib/schema.ts";
import type { ToolInput } from "./tool-kind.ts";

const failure = t.named(
  "ToolFailure",
  t.closedObject({
    status: t.about(
      "The HTTP status that such a response has; absent: any.",
      Type.Optional(Type.Integer({ minimum: 200, maximum: 599 })),
    ),
    field: t.about(
      "A field of the JSON response, such as `ok` or `error.code`. Without `equals`, it must be there and not be null.",
      Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    ),
    equals: t.about(
      "The value of `field` in such a response.",
      Type.Optional(t.orNull(Type.Union([Type.String({ maxLength: 1000 }), Type.Number(), Type.Boolean()]))),
    ),
    hint: t.about(
      "What the model reads beside the response.",
      Type.Optional(Type.String({ minLength: 1, maxLength: 1000 })),
    ),
    repeat: t.about(
      "Whether the service did not perform the call, so that `retries` apply.",
      Type.Optional(Type.Boolean()),
    ),
  }),
);
const failures = t.withType<ResponseFailure[]>(Type.Array(failure, { minItems: 1, maxItems: 50 }));

export const failuresField = t.about(
  "Which responses are failures, beside those whose status is not 2xx. All conditions of one must hold; null: none.",
  t.orNull(failures),
);
export const shownFailures = t.orNull(failures);

export function failureFaults({ failures }: ToolInput): Fault[] {
  return (failures ?? []).flatMap(({ status, field, equals }, index) => {
    const at = `failures[${index}]`;
    if (equals !== undefined && field === undefined)
      return [fault(`${at}.field`, "`equals` needs a field.", "required")];
    return status === undefined && field === undefined ? [fault(at, "It needs a status or a field.", "required")] : [];
  });
}
