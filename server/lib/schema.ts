import { type SchemaOptions, type TProperties, type TSchema, Type } from "@sinclair/typebox";

// Vocabulary of the API's schemas.

/** A schema with a name in the API document, which client generators use for its type. */
export const named = <T extends TSchema>(component: string, schema: T): T => ({ ...schema, component });

/** A field with a description for this place. */
export const about = <T extends TSchema>(about: string | undefined, schema: T): T =>
  about ? { ...schema, about } : schema;

/** A nullable field. */
export const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** An enum. */
export const oneOf = <const T extends string>(values: readonly T[], options?: SchemaOptions) =>
  Type.Unsafe<T>(
    Type.Union(
      values.map((value) => Type.Literal(value)),
      options,
    ),
  );

/** A constant. */
export const word = <const T extends string | boolean>(value: T) => Type.Unsafe<T>({ const: value });

/** A schema with a more precise TypeScript type than the API document states. */
export const withType = <T>(schema: TSchema) => Type.Unsafe<T>(schema);

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
/** An object with these fields and no others. */
export const closedObject = <T extends TProperties>(fields: T) => Type.Object(fields, closed);
/** The same with all fields optional. */
export const partial = <T extends TProperties>(fields: T) => Type.Partial(closedObject(fields));
/** An object with required and optional fields, and no others. */
export const partly = <R extends TProperties, O extends TProperties>(required: R, optional: O) =>
  Type.Composite([Type.Object(required), Type.Partial(Type.Object(optional))], closed);
/** An object whose unknown fields are ignored. */
export const open = <T extends TProperties>(fields: T) => Type.Object(fields, { additionalProperties: true });
