import { type TProperties, type TSchema, Type } from "@sinclair/typebox";

/** Shapes of what comes from elsewhere: bounded, and nothing beside what is known. */
export const exact = <T extends TProperties>(properties: T) => Type.Object(properties, { additionalProperties: false });

/** Ids of elsewhere are data; nothing in them could be a path, a header or a line. */
export const Id = Type.String({ pattern: "^[\\w.:-]{1,128}$" });
export const Hash = Type.String({ pattern: "^[\\w.:-]{1,128}$" });
export const Text = Type.String();
export const Short = Type.String({ maxLength: 4096 });
export const Flag = Type.Boolean();
export const True = Type.Literal(true);

const far = 1e15;
export const Count = Type.Integer({ minimum: 0, maximum: far });
export const CountOrNull = Type.Union([Count, Type.Null()]);
export const Money = Type.Union([Type.Number({ minimum: 0, maximum: 1e9 }), Type.Null()]);
export const Milliseconds = Type.Number({ minimum: 0, maximum: far });
/** Steps and turns number arrays: a high one would make a long one. */
export const index = (most: number) => Type.Integer({ minimum: 0, maximum: most - 1 });

export const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
export const Json = Type.Record(Type.String(), Type.Unknown());
