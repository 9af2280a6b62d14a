import { type SchemaOptions, type Static, type TProperties, type TSchema, Type } from "@sinclair/typebox";
import { environments } from "../core/scope.ts";

/** A schema that has a name in the API's description: generators of clients call its type by it. */
export const named = <T extends TSchema>(component: string, schema: T): T => ({ ...schema, component });

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

/** Beside the rest of every response; the items of a list have none of their own. */
export const envelope = { request_id: optional(text) };

/** What every resource has around its own fields. They stay open, since fields may be added at any time. */
export const resource = <const K extends string, F extends TProperties, M extends TSchema = typeof text>(
  component: string,
  kind: K,
  fields: F,
  ofMetadata: M = text as TSchema as M,
) =>
  named(
    component,
    object({
      id: text,
      object: word(kind),
      ...fields,
      metadata: map(ofMetadata),
      created_at: time,
      project_id: text,
      environment: oneOf(environments),
      /** Of items of lists: the fields that are not there in full. */
      truncated: optional(list(text)),
      ...envelope,
    }),
  );

/** One of these, by the word that stands in a field. */
export const choiceOf = <T extends TSchema>(component: string, field: string, schemas: Record<string, T>) => ({
  ...Type.Union(Object.values(schemas)),
  component,
  discriminator: {
    propertyName: field,
    mapping: Object.fromEntries(
      Object.entries(schemas).map(([word, schema]) => [word, `#/components/schemas/${schema.component}`]),
    ),
  },
});

/** A page of these. */
export const listOf = <T extends TSchema>(item: T) =>
  named(
    `${String(item.component).replace(/ListItem$/, "")}List`,
    object({
      object: word("list"),
      data: list(item),
      has_more: boolean,
      first_id: orNull(text),
      last_id: orNull(text),
      ...envelope,
    }),
  );

export type List<T> = Omit<Static<ReturnType<typeof listOf>>, "data"> & { data: T[] };

export const Deleted = named("Deleted", object({ id: text, object: text, deleted: word(true), ...envelope }));
export type Deleted = Static<typeof Deleted>;

/** A code to decide by, and a sentence to read. */
export const CodedError = object({ code: text, message: text });
