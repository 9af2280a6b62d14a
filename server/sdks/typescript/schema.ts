import { RunnelError } from "./errors.ts";

/** A JSON Schema. */
export type JsonSchema = Record<string, unknown>;

type Checked<Output> = { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly Issue[] };

interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/**
 * A schema of zod, arktype or another library with the interface of Standard Schema (https://standardschema.dev). It is
 * sent as JSON Schema, so the library must be able to write one.
 */
export interface StandardSchema<Output = unknown> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => Checked<Output> | Promise<Checked<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
    readonly jsonSchema?: { readonly input: (options: { target: "draft-2020-12" }) => JsonSchema } | undefined;
  };
}

/** Type of the values that a schema accepts, after its defaults and transformations. */
export type OutputOf<Schema> = Schema extends StandardSchema<infer Output> ? Output : unknown;

/** Remedies for a schema that writes no JSON Schema, by the library. */
const remedies: Record<string, string> = {
  zod: 'use zod 4.2 or later, imported from "zod"; for zod/mini pass `z.toJSONSchema(schema)`',
  valibot: "pass `toStandardJsonSchema(schema)` of @valibot/to-json-schema",
};

const isStandard = (schema: JsonSchema | StandardSchema): schema is StandardSchema => "~standard" in schema;

/**
 * Returns the JSON Schema of a schema. Throws a `RunnelError` that names the subject if the schema's library cannot
 * write one: zod has none for a date.
 */
export function jsonSchemaOf(schema: JsonSchema | StandardSchema, subject: string): JsonSchema {
  if (!isStandard(schema)) return schema;
  const { vendor, jsonSchema } = schema["~standard"];
  if (!jsonSchema)
    throw new RunnelError(
      `${subject}: this schema of ${vendor} cannot write a JSON Schema: ${remedies[vendor] ?? "pass the JSON Schema itself"}.`,
    );
  try {
    const { $schema: _, ...written } = jsonSchema.input({ target: "draft-2020-12" });
    return written;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new RunnelError(
      `${subject}: ${vendor} cannot write its JSON Schema: ${reason}. JSON has texts, numbers, booleans, lists and objects: a date is a text.`,
      { cause },
    );
  }
}

function faultOf({ message, path = [] }: Issue): string {
  const place = path.map((key) => String(typeof key === "object" ? key.key : key)).join(".");
  return place ? `${place}: ${message}` : message;
}

/** Returns a value as the schema makes it. Throws a `RunnelError` that names all faults of a value that does not fit. */
export async function checkedBy(schema: JsonSchema | StandardSchema, value: unknown): Promise<unknown> {
  if (!isStandard(schema)) return value;
  const checked = await schema["~standard"].validate(value);
  if (checked.issues) throw new RunnelError(checked.issues.map(faultOf).join("; "));
  return checked.value;
}
