import { isExactNumber, isNumber } from "../../../server/lib/exact-numbers.ts";
import { isJsonObject } from "./json-text.ts";

/** A JSON Schema, not validated. */
export type AnySchema = Record<string, unknown>;

/** Path in a JSON value: property names and list indexes. */
export type JsonPath = readonly (string | number)[];

/** Collects a schema with its references and alternatives, each once even if circular. */
function variants(root: AnySchema, schema: unknown, found = new Set<AnySchema>()): AnySchema[] {
  if (!isJsonObject(schema) || found.has(schema)) return [...found];
  found.add(schema);
  for (const keywordValue of [schema.$ref, schema.allOf, schema.anyOf, schema.oneOf])
    for (const each of Array.isArray(keywordValue)
      ? keywordValue
      : [typeof keywordValue === "string" && resolveRef(root, keywordValue)])
      variants(root, each, found);
  return [...found];
}

function resolveRef(root: AnySchema, ref: string): unknown {
  if (!ref.startsWith("#")) return undefined;
  const keys = ref.slice(1).split("/").slice(1);
  return keys.reduce<unknown>((at, key) => {
    const name = decodePointer(key).replaceAll("~1", "/").replaceAll("~0", "~");
    if (Array.isArray(at)) return at[Number(name)];
    return isJsonObject(at) && Object.hasOwn(at, name) ? at[name] : undefined;
  }, root);
}

function decodePointer(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Returns the schemas of the value at a path. */
export function schemasAt(root: AnySchema, path: JsonPath): AnySchema[] {
  return path.reduce<AnySchema[]>(
    (schemas, key) => [...new Set(schemas.flatMap((schema) => variants(root, childSchema(schema, key))))],
    variants(root, root),
  );
}

function childSchema(schema: AnySchema, key: string | number): unknown {
  if (typeof key === "number") return asArray(schema.prefixItems)[key] ?? schema.items;
  const { properties, patternProperties, additionalProperties } = schema;
  if (isJsonObject(properties) && Object.hasOwn(properties, key)) return properties[key];
  const pattern = isJsonObject(patternProperties) && Object.entries(patternProperties).find(([it]) => fits(it, key));
  return pattern ? pattern[1] : additionalProperties;
}

function fits(pattern: string, key: string): boolean {
  try {
    return new RegExp(pattern, "u").test(key);
  } catch {
    return false;
  }
}

const asArray = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

interface KnownProperty {
  name: string;
  schema: AnySchema;
  isRequired: boolean;
}

/** Returns the known properties of the object at a path. */
export function propertiesAt(root: AnySchema, path: JsonPath): KnownProperty[] {
  const found = new Map<string, KnownProperty>();
  for (const { properties, required } of schemasAt(root, path))
    if (isJsonObject(properties))
      for (const [name, schema] of Object.entries(properties))
        if (isJsonObject(schema) && !found.has(name))
          found.set(name, { name, schema, isRequired: asArray(required).includes(name) });
  return [...found.values()];
}

/** Returns the known values at a path. */
export function valuesAt(root: AnySchema, path: JsonPath): unknown[] {
  const values = schemasAt(root, path).flatMap((schema) => [
    ...asArray(schema.enum),
    ...("const" in schema ? [schema.const] : []),
    ...(typesOf(schema).includes("boolean") ? [true, false] : []),
    ...(typesOf(schema).includes("null") ? [null] : []),
    ...("default" in schema ? [schema.default] : []),
  ]);
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}

/** Returns the types of a schema. */
const typesOf = ({ type }: AnySchema): unknown[] => (Array.isArray(type) ? type : type === undefined ? [] : [type]);

/** Describes schemas briefly: their types, or the number of values. */
export function typeWords(schemas: readonly AnySchema[]): string {
  const types = [...new Set(schemas.flatMap(typesOf))].filter((type) => typeof type === "string");
  if (types.length > 0) return types.join(" or ");
  return schemas.some(({ enum: values }) => Array.isArray(values)) ? "one of several values" : "";
}

/** Returns the description at a path. */
export const descriptionAt = (root: AnySchema, path: JsonPath): string | undefined =>
  schemasAt(root, path)
    .map(({ description }) => description)
    .find((text) => typeof text === "string");

interface ValueFault {
  path: JsonPath;
  message: string;
}

/**
 * Validates a value while it is being typed: types, values, and missing or unknown properties. Parts with alternatives
 * are left to the server.
 */
export function valueFaults(root: AnySchema, value: unknown, path: JsonPath = []): ValueFault[] {
  const schemas = schemasAt(root, path);
  if (schemas.length === 0 || schemas.some(({ anyOf, oneOf }) => anyOf || oneOf)) return [];
  const own = schemas.flatMap((schema) => ownFaults(root, schema, value, path));
  if (own.length > 0) return own;
  const inner: [string | number, unknown][] = Array.isArray(value)
    ? value.map((item, i) => [i, item])
    : isJsonObject(value)
      ? Object.entries(value)
      : [];
  return inner.flatMap(([key, item]) => valueFaults(root, item, [...path, key]));
}

function ownFaults(root: AnySchema, schema: AnySchema, value: unknown, path: JsonPath): ValueFault[] {
  const types = typesOf(schema);
  if (types.length > 0 && !types.some((type) => isOf(type, value)))
    return [{ path, message: `Must be of type ${types.join(" or ")}.` }];
  const { enum: values, additionalProperties } = schema;
  if (Array.isArray(values) && !values.some((each) => JSON.stringify(each) === JSON.stringify(value)))
    return [{ path, message: `Must be one of ${values.map((each) => JSON.stringify(each)).join(", ")}.` }];
  if (!isJsonObject(value)) return [];
  const missing = asArray(schema.required).filter((name) => typeof name === "string" && !Object.hasOwn(value, name));
  const known = propertiesAt(root, path).map(({ name }) => name);
  const isOpen = additionalProperties !== false || isJsonObject(schema.patternProperties);
  const unknown = isOpen ? [] : Object.keys(value).filter((name) => !known.includes(name));
  return [
    ...missing.map((name) => ({ path, message: `“${name}” is missing.` })),
    ...unknown.map((name) => ({ path: [...path, name], message: `“${name}” is unknown here.` })),
  ];
}

function isOf(type: unknown, value: unknown): boolean {
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isJsonObject(value);
  if (type === "integer") return isExactNumber(value) ? /^-?\d+$/.test(value.rawJSON) : Number.isInteger(value);
  if (type === "number") return isNumber(value);
  return typeof value === type;
}
