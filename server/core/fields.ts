import { type TSchema, Type } from "@sinclair/typebox";
import { limits } from "./limits.ts";

// Fields of the record. Their bounds hold for what comes from elsewhere; what is our own has them by how it is made.

/** Ids of elsewhere are data; nothing in them could be a path, a header or a line. */
export const Id = Type.String({ pattern: "^[\\w.:-]{1,128}$" });
export const Hash = Type.String({ pattern: "^[\\w.:-]{1,128}$" });
/** Of ids that clients choose: not `.` and `..`, which no path can name. Without look-ahead, which not every reader of OpenAPI has. */
export const namedInPaths = "^(?:[^.]|\\.[^.]|\\.\\.[\\s\\S])";
export const Text = Type.String();
export const Short = Type.String({ maxLength: 4096 });
export const ModelName = Type.String({ maxLength: 300 });
export const Flag = Type.Boolean();
export const True = Type.Literal(true);

/** As the API writes times. */
export const Timestamp = Type.String({
  pattern: "^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])T([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d{1,9})?Z$",
});

const far = 1e15;
/** Thirty years: of a time that is written with four digits of its year, so many leave another one. */
const long_ms = 1e12;
export const Count = Type.Integer({ minimum: 0, maximum: far });
export const CountOrNull = Type.Union([Count, Type.Null()]);
export const Money = Type.Union([Type.Number({ minimum: 0, maximum: 1e9 }), Type.Null()]);
export const Milliseconds = Type.Integer({ minimum: 0, maximum: long_ms });
/** Steps and turns number arrays: a high one would make a long one. */
export const index = (most: number) => Type.Integer({ minimum: 0, maximum: most - 1 });

export const many = <T extends TSchema>(schema: T, maxItems = 1000) => Type.Array(schema, { maxItems });
export const Json = Type.Record(Type.String(), Type.Unknown());

/** What clients write to their things. */
export const Metadata = Type.Record(
  Type.String({ pattern: `^[\\s\\S]{1,${limits.metadata_key_length}}$` }),
  Type.String({ maxLength: limits.metadata_value_length }),
  {
    maxProperties: limits.metadata_pairs,
    additionalProperties: false,
  },
);
