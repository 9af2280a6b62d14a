import { type SchemaOptions, type TProperties, type TSchema, Type } from "@sinclair/typebox";

// The words that schemas are written in.

/** A schema that has a name in the API's description: generators of clients call its type by it. */
export const named = <T extends TSchema>(component: string, schema: T): T => ({ ...schema, component });

/** A field with what it means there, whatever its schema means elsewhere. */
export const about = <T extends TSchema>(about: string | undefined, schema: T): T =>
  about ? { ...schema, about } : schema;

/** A field that may be null. */
export const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** One of these words. */
export const oneOf = <const T extends string>(values: readonly T[], options?: SchemaOptions) =>
  Type.Unsafe<T>(
    Type.Union(
      values.map((value) => Type.Literal(value)),
      options,
    ),
  );

/** Always this word. */
export const word = <const T extends string | boolean>(value: T) => Type.Unsafe<T>({ const: value });

/** What the API tells less of than the code knows. */
export const typed = <T>(schema: TSchema) => Type.Unsafe<T>(schema);

export const text = Type.String();
export const integer = Type.Integer();
export const number = Type.Number();
export const boolean = Type.Boolean();
export const anything = Type.Unknown();
export const anyObject = Type.Unsafe<Record<string, unknown>>({ type: "object" });
export const time = Type.String({ format: "date-time" });
export const list = <T extends TSchema>(items: T) => Type.Array(items);
export const object = Type.Object;
export const optional = Type.Optional;
export const map = <T extends TSchema>(values: T) => Type.Record(Type.String(), values);

const closed = { additionalProperties: false };
/** An object of these fields and no others. */
export const exact = <T extends TProperties>(fields: T) => Type.Object(fields, closed);
/** The same where each may be left out. */
export const partial = <T extends TProperties>(fields: T) => Type.Partial(exact(fields));
/** Fields that are required, fields that may be left out, and no others. */
export const partly = <R extends TProperties, O extends TProperties>(required: R, optional: O) =>
  Type.Composite([Type.Object(required), Type.Partial(Type.Object(optional))], closed);
/** An object whose other fields are ignored. */
export const open = <T extends TProperties>(fields: T) => Type.Object(fields, { additionalProperties: true });
