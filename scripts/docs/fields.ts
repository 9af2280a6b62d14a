import { nameOf, type OpenApi, type Schema } from "../sdk-codegen/openapi.ts";

type Schemas = OpenApi["components"]["schemas"];

/**
 * Returns the fields of an object as a table. Nested objects are expanded below their field, `depth` levels deep;
 * deeper ones are linked. For a request's fields it marks the required ones.
 */
export function fieldTable(schema: Schema, schemas: Schemas, depth: number, isSent = false): string {
  const rows = rowsOf(schema, { schemas, depth, isSent, path: "", seen: [] });
  if (rows.length > 0) return `| Field | Type | Description |\n|---|---|---|\n${rows.join("\n")}`;
  const choices = choicesOf(schema);
  if (choices.length > 1) return `One of:\n\n${choices.map((one) => `- ${typeOf(one)}`).join("\n")}`;
  return Object.keys(schema.properties ?? {}).length === 0 && schema.type === "object"
    ? "No fields."
    : `${typeOf(schema)}.`;
}

interface Place {
  schemas: Schemas;
  /** Number of further levels to expand. */
  depth: number;
  isSent: boolean;
  path: string;
  /** Names of the enclosing objects, against recursion. */
  seen: readonly string[];
}

function rowsOf({ properties = {}, required = [] }: Schema, place: Place): string[] {
  const { schemas, depth, isSent, path, seen } = place;
  return Object.entries(properties).flatMap(([name, field]) => {
    const full = `${path}${name}`;
    const within = depth > 0 ? objectIn(field, schemas, seen) : null;
    const mark = isSent && required.includes(name) ? " (required)" : "";
    const type = within ? within.type : typeOf(field);
    const row = `| \`${full}\`${mark} | ${type} | ${cell(`${field.description ?? ""}${boundsOf(field)}`)} |`;
    if (!within) return [row];
    const inner = { ...place, depth: depth - 1, path: `${full}${within.isList ? "[]" : ""}.`, seen: within.seen };
    return [row, ...rowsOf(within.schema, inner)];
  });
}

interface NestedObject {
  schema: Schema;
  type: string;
  isList: boolean;
  seen: readonly string[];
}

/**
 * Returns the only object type of a field, direct, as an item or beside simpler values; null if there is none or
 * several.
 */
function objectIn(field: Schema, schemas: Schemas, seen: readonly string[]): NestedObject | null {
  const choices = choicesOf(field);
  const objects = choices.map((choice) => ({ choice, held: heldBy(choice, schemas, seen) }));
  const [only, ...others] = objects.filter(({ held }) => held !== null);
  if (!only?.held || others.length > 0) return null;
  const type = objects.map(({ choice, held }) => (held ? held.type : typeOf(choice)));
  return { ...only.held, type: [...new Set(type)].join(" or ") };
}

function heldBy(schema: Schema, schemas: Schemas, seen: readonly string[]): NestedObject | null {
  if (schema.items) {
    const item = objectIn(schema.items, schemas, seen);
    return item && !item.isList ? { ...item, type: `array of ${item.type}`, isList: true } : null;
  }
  const name = schema.$ref && nameOf(schema.$ref);
  if (name && seen.includes(name)) return null;
  const found = name ? schemas[name]! : schema;
  if (Object.keys(found.properties ?? {}).length === 0) return null;
  return { schema: found, type: "object", isList: false, seen: name ? [...seen, name] : seen };
}

const choicesOf = (schema: Schema): Schema[] => schema.anyOf ?? schema.oneOf ?? [schema];

/** Returns the type of a value in words. */
export function typeOf(schema: Schema): string {
  const { $ref, type, items, const: only, enum: values } = schema;
  if ($ref) return linkTo(nameOf($ref));
  if (only !== undefined) return `\`${JSON.stringify(only)}\``;
  if (values) return values.map((value) => `\`${JSON.stringify(value)}\``).join(", ");
  const choices = choicesOf(schema);
  if (choices[0] !== schema) return [...new Set(choices.map(typeOf))].join(" or ");
  if (items) return `array of ${typeOf(items)}`;
  return [type ?? "any value"].flat().join(" or ");
}

/** Objects without a page: arbitrary JSON and string maps. Events have their own pages. */
const linkOverrides: Record<string, string> = {
  JsonObject: "object",
  Metadata: "object of strings",
  Event: "[event](../events/index.md)",
};

const linkTo = (name: string): string => linkOverrides[name] ?? `[${name}](../objects/${name}.md)`;

/** Bounds from here on are those of the number's format, and tell a reader nothing. */
const formatBound = 1e15;
const written = (bound: number): string => bound.toLocaleString("en");

/** Returns the bounds of a value and its default, as sentences after its description. */
export function boundsOf({
  default: value,
  minimum,
  exclusiveMinimum,
  maximum: most,
  minLength,
  maxLength,
  minItems,
  maxItems,
}: Schema): string {
  const maximum = most !== undefined && most < formatBound ? most : undefined;
  const facts = [
    exclusiveMinimum !== undefined && `Above ${written(exclusiveMinimum)}.`,
    minimum !== undefined && maximum !== undefined && `From ${written(minimum)} to ${written(maximum)}.`,
    minimum !== undefined && maximum === undefined && minimum > -formatBound && `At least ${written(minimum)}.`,
    minimum === undefined && maximum !== undefined && `At most ${written(maximum)}.`,
    minLength !== undefined && minLength > 1 && `At least ${written(minLength)} characters.`,
    maxLength !== undefined && `At most ${written(maxLength)} characters.`,
    minItems !== undefined && `At least ${written(minItems)} ${minItems === 1 ? "item" : "items"}.`,
    maxItems !== undefined && `At most ${written(maxItems)} ${maxItems === 1 ? "item" : "items"}.`,
    value !== undefined && `Default: \`${JSON.stringify(value)}\`.`,
  ].filter(Boolean);
  return facts.length > 0 ? ` ${facts.join(" ")}` : "";
}

/** Escapes a text for a table. */
export const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("\n", " ").trim();
