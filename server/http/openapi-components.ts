export type Schema = Record<string, unknown>;

export type Components = ReturnType<typeof createComponents>;

/**
 * Rewrites schemas for client generators without changing their meaning: each object is one named component, and maps
 * and enums have the one form that all generators read. An unnamed object is named after its parent and field.
 * `defaultOf` returns the default of a component's field that is not in its schema; undefined if there is none.
 */
export function createComponents(defaultOf: (component: string, field: string) => unknown) {
  const schemas: Record<string, Schema> = {};

  function put(name: string, { component: _, about: __, ...schema }: Schema): Schema {
    const plainSchema = plain(schema, name);
    const known = schemas[name];
    if (known && JSON.stringify(known) !== JSON.stringify(plainSchema))
      throw new Error(`There are two schemas called ${name}.`);
    schemas[name] = plainSchema;
    return ref(name);
  }

  /** Rewrites a schema where it is used; `place` is its name unless it has one. */
  function used(node: unknown, place: string): Schema {
    if (typeof node !== "object" || node === null) return node as unknown as Schema; // `true` and `false` are schemas.
    const { component, about: _, ...schema } = node as Schema & { component?: string };
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
            withDescription(place, field, used(one, place + pascal(field)), one.about),
          ]),
        );
      else if (keyword === "items") written.items = used(value, singular(place));
      else if (keyword === "additionalProperties") written.additionalProperties = used(value, place);
      else if (keyword === "anyOf") written.anyOf = (value as Schema[]).map((one) => used(one, place));
      // Generators of typed languages know no value of several types.
      else if (keyword === "type" && Array.isArray(value)) written.anyOf = value.map((type) => ({ type }));
      else written[keyword] = value;
    const [[pattern, values] = [], ...others] = Object.entries((patternProperties as Schema | undefined) ?? {});
    if (pattern === undefined) return written;
    if (others.length > 0) throw new Error(`${place} is no map.`);
    if (pattern !== anyName) written.propertyNames = { pattern };
    return { ...written, additionalProperties: used(values, place) };
  }

  function withDescription(place: string, field: string, schema: Schema, text: unknown): Schema {
    const description = text ?? schema.description;
    const value = defaultOf(place, field);
    return {
      ...schema,
      ...(description !== undefined && { description }),
      ...(value !== undefined && { default: value }),
    };
  }

  return { schemas, put, used };
}

/** Returns the names of the components that a part of the document uses, directly or indirectly. */
export function namesIn(part: unknown, schemas: Record<string, Schema>): Set<string> {
  const found = new Set<string>();
  const visit = (node: unknown): void => {
    for (const [, name] of JSON.stringify(node ?? null).matchAll(/"#\/components\/schemas\/(\w+)"/g))
      if (!found.has(name!)) {
        found.add(name!);
        visit(schemas[name!]);
      }
  };
  visit(part);
  return found;
}

/**
 * Writes the defaults of a request's fields into their descriptions, and as `x-default` for programs: generators make
 * a field with a `default` required, or send the default of the day when they were run.
 */
export function withoutDefaults({ properties, ...schema }: Schema): Schema {
  if (properties === undefined) return schema;
  const fields = Object.entries(properties as Record<string, Schema>).map(([name, { default: value, ...field }]) => {
    if (value === undefined) return [name, field];
    const description = `${field.description ?? ""} Default: \`${JSON.stringify(value)}\`.`.trim();
    return [name, { ...field, description, "x-default": value }];
  });
  return { ...schema, properties: Object.fromEntries(fields) };
}

/** Returns the singular: `MemoryEntries` → `MemoryEntry`, `Matches` → `Match`. */
export const singular = (plural: string): string =>
  plural.replace(/(?<=ch|sh|ss|x)es$|(?<!s)s$/, "").replace(/(?<=[^aeiou])ie$/, "y");

const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });

const anyName = "^(.*)$";

/** `tool_calls` → `ToolCalls` */
export const pascal = (field: string): string =>
  field.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());

function choicesOf({ anyOf }: Schema): string[] | null {
  const words = Array.isArray(anyOf) ? anyOf.map((one: Schema) => one.const) : [];
  return words.length > 0 && words.every((constValue) => typeof constValue === "string") ? words : null;
}
