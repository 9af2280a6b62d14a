import { fieldsOf, isObject } from "../../lib/json.ts";
import type { JsonSchema } from "./model.ts";

/** Returns arguments that fit an ordinary schema: its required properties, each with the simplest value of its type. */
export function exampleArguments(schema: JsonSchema): Record<string, unknown> {
  const value = example(schema, 0);
  return isObject(value) ? value : {};
}

function example(schema: JsonSchema, depth: number): unknown {
  if (schema.const !== undefined) return schema.const;
  const presetValues = [schema.enum, schema.examples].find(
    (list) => Array.isArray(list) && list.length > 0,
  ) as unknown[];
  if (presetValues) return presetValues[0];
  if (schema.default !== undefined) return schema.default;
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (type === "string") return text(schema);
  if (type === "number" || type === "integer") return number(schema);
  if (type === "boolean") return true;
  if (type === "null") return null;
  if (type === "array") return list(schema, depth);
  return object(schema, depth);
}

function text(schema: JsonSchema): string {
  const least = typeof schema.minLength === "number" ? schema.minLength : 0;
  const most = typeof schema.maxLength === "number" ? schema.maxLength : 1000;
  return "text".padEnd(Math.min(least, 1000), "x").slice(0, most);
}

function number(schema: JsonSchema): number {
  if (typeof schema.minimum === "number") return schema.minimum;
  if (typeof schema.exclusiveMinimum === "number") return schema.exclusiveMinimum + 1;
  return typeof schema.maximum === "number" ? Math.min(1, schema.maximum) : 1;
}

function list(schema: JsonSchema, depth: number): unknown[] {
  const length = typeof schema.minItems === "number" ? Math.min(schema.minItems, 10) : 0;
  return Array.from({ length }, () => example(fieldsOf(schema.items), depth + 1));
}

function object(schema: JsonSchema, depth: number): Record<string, unknown> {
  // Schemas may nest deeply; a test model need not follow them to the end.
  if (depth > 8 || !Array.isArray(schema.required)) return {};
  const properties = fieldsOf(schema.properties);
  const names = schema.required.filter((name) => typeof name === "string");
  return Object.fromEntries(names.map((name) => [name, example(fieldsOf(properties[name]), depth + 1)]));
}
