import { FormatRegistry } from "@sinclair/typebox";
import { Policy } from "@sinclair/typebox/compiler";
import { ValueErrorIterator } from "@sinclair/typebox/errors";
import { TypeSystemPolicy } from "@sinclair/typebox/system";
import { wellFormedText } from "../domain/fields.ts";
import { isExactNumber } from "../lib/exact-numbers.ts";

// Changes to the validator of all schemas in this process. There is one validator for all of them, and it takes neither
// change by schema.

// Elysia copies the request into its message several times: 250 ms for 1 MB. That message is never shown. An error
// message in the schema suppresses it.
const { First } = ValueErrorIterator.prototype;
ValueErrorIterator.prototype.First = function (this: ValueErrorIterator) {
  const error = First.call(this);
  return error && { ...error, schema: { ...error.schema, error: "" } };
};

// A raw JSON number is an object to JavaScript. Make schemas treat it as none: it is accepted where any JSON is, and
// refused elsewhere.
for (const policyName of ["IsObjectLike", "IsRecordLike"] as const) {
  const [code, check] = [Policy[policyName], TypeSystemPolicy[policyName]];
  Policy[policyName] = (value) => `(${code(value)} && !JSON.isRawJSON(${value}))`;
  TypeSystemPolicy[policyName] = (value): value is Record<PropertyKey, unknown> =>
    check(value) && !isExactNumber(value);
}

FormatRegistry.Set(wellFormedText, (value) => value.isWellFormed());
