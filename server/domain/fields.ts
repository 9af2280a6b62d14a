import { type TSchema, Type } from "@sinclair/typebox";
import { limits } from "./limits.ts";

// Fields of the journal. The bounds apply to imported data; our own data satisfies them by construction.

/** Foreign ids are data: none can form a path, a header or a line. */
export const Id = Type.String({ pattern: "^[\\w.:-]{1,128}$" });
export const Hash = Type.String({ pattern: "^[\\w.:-]{1,128}$" });
/**
 * Pattern for ids that clients choose: not `.` and `..`, which paths cannot contain. Without look-ahead, which some
 * OpenAPI tools do not support.
 */
export const namedInPaths = "^(?:[^.]|\\.[^.]|\\.\\.[\\s\\S])";
/**
 * Format of ids that clients choose: without half a character (a lone surrogate). The database would store each half as
 * the same character, and two users would be one.
 */
export const wellFormedText = "well-formed-text";
export const Text = Type.String();
export const Short = Type.String({ maxLength: 4096 });
export const ModelName = Type.String({ maxLength: 300 });
export const Flag = Type.Boolean();
export const True = Type.Literal(true);

/** Time format of the API. */
export const Timestamp = Type.String({
  pattern: "^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])T([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d{1,9})?Z$",
});

const maxCount = 1e15;
/** Thirty years: subtracted from a time with a four-digit year, it still gives a valid one. */
const long_ms = 1e12;
export const Count = Type.Integer({ minimum: 0, maximum: maxCount });
export const CountOrNull = Type.Union([Count, Type.Null()]);
export const Money = Type.Union([Type.Number({ minimum: 0, maximum: 1e9 }), Type.Null()]);
export const Milliseconds = Type.Integer({ minimum: 0, maximum: long_ms });
/** Bounded, because steps and turns are array indexes. */
export const index = (most: number) => Type.Integer({ minimum: 0, maximum: most - 1 });

export const many = <T extends TSchema>(schema: T, maxItems = 1000) => Type.Array(schema, { maxItems });
export const Json = Type.Record(Type.String(), Type.Unknown());

/** Metadata that clients attach to resources. */
export const Metadata = Type.Record(
  Type.String({ pattern: `^[\\s\\S]{1,${limits.metadata_key_length}}$` }),
  Type.String({ maxLength: limits.metadata_value_length }),
  {
    maxProperties: limits.metadata_pairs,
    additionalProperties: false,
  },
);
