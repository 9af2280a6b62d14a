export type Schema = Record<string, unknown>;

/** What is known of a field of a component beside its schema; undefined where nothing is. */
interface Known {
  descriptionOf(component: string, field: string): string | undefined;
  defaultOf(component: string, field: string): unknown;
}

export type Components = ReturnType<typeof createComponents>;

/**
 * The schemas of the document as generators of clients want them: each object stands once, under a name, and is referred
 * to; maps and choices are written in the one form that all of them read. They mean the same. An object without a name
 * gets that of the one that it is in, and of the field.
 */
export function createComponents({ descriptionOf, defaultOf }: Known) {
  const schemas: Record<string, Schema> = {};

  function put(name: string, { component: _, about: __, ...schema }: Schema): Schema {
    const written = plain(schema, name);
    const known = schemas[name];
    if (known && JSON.stringify(known) !== JSON.stringify(written))
      throw new Error(`There are two schemas called ${name}.`);
    schemas[name] = written;
    return ref(name);
  }

  /** A schema where it is used; `place` is its name, unless it has one. */
  function used(given: unknown, place: string): Schema {
    if (typeof given !== "object" || given === null) return given as unknown as Schema; // `true` and `false` are schemas.
    const { component, about: _, ...schema } = given as Schema & { component?: string };
    const name = component ?? (schema.properties ? place : undefined);
    return name === undefined ? plain(schema, place) : put(name, schema);
  }

  function plain(schema: Schema, place: string): Schema {
    const choices = choicesOf(schema);
    const { anyOf, patternProperties, ...rest } = schema;
    if (choices) return { ...rest, type: "string", enum: choices };
    const written: Schema = {};
    for (const [keyword, value] of Object.entries(anyOf ? { ...rest, anyOf } : rest))
      if (keyword === "properties")
        written.properties = Object.fromEntries(
          Object.entries(value as Record<string, Schema>).map(([field, one]) => [
            field,
            told(place, field, used(one, place + pascal(field)), one.about),
          ]),
        );
      else if (keyword === "items") written.items = used(value, singular(place));
      else if (keyword === "additionalProperties") written.additionalProperties = used(value, place);
      else if (keyword === "anyOf") written.anyOf = (value as Schema[]).map((one) => used(one, place));
      else written[keyword] = value;
    const [[pattern, values] = [], ...others] = Object.entries((patternProperties as Schema | undefined) ?? {});
    if (pattern === undefined) return written;
    if (others.length > 0) throw new Error(`${place} is no map.`);
    if (pattern !== anyName) written.propertyNames = { pattern };
    return { ...written, additionalProperties: used(values, place) };
  }

  function told(place: string, field: string, schema: Schema, about: unknown): Schema {
    const known = (about ?? schema.description ?? descriptionOf(place, field)) as string | undefined;
    const description = mayBeNull(schema) ? known : known?.replace(ofNull, "");
    const value = defaultOf(place, field);
    return {
      ...schema,
      ...(description !== undefined && { description }),
      ...(value !== undefined && { default: value }),
    };
  }

  return { schemas, put, used };
}

/** What a description says of null, which not every schema of such a field allows. */
const ofNull = /; null\b[^.]*(?=\.)/;

/** One without a type allows anything. A named one is never null by itself. */
function mayBeNull({ $ref, type, anyOf, ...others }: Schema): boolean {
  if (Array.isArray(anyOf)) return anyOf.some(mayBeNull);
  return (
    $ref === undefined && [undefined, "null"].includes(type as undefined) && !("const" in others || "enum" in others)
  );
}

/** `MemoryEntries` → `MemoryEntry`, `Matches` → `Match`: what one of them is called. */
export const singular = (plural: string): string =>
  plural.replace(/(?<=ch|sh|ss|x)es$|(?<!s)s$/, "").replace(/(?<=[^aeiou])ie$/, "y");

const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });

const anyName = "^(.*)$";

/** `tool_calls` → `ToolCalls` */
export const pascal = (field: string): string =>
  field.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());

function choicesOf({ anyOf }: Schema): string[] | null {
  const words = Array.isArray(anyOf) ? anyOf.map((one: Schema) => one.const) : [];
  return words.length > 0 && words.every((word) => typeof word === "string") ? words : null;
}
