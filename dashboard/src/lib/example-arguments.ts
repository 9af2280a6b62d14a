import { isJsonObject } from "./json-text.ts";

function example(schema: unknown, depth: number): unknown {
  if (!isJsonObject(schema) || depth > 4) return null;
  if (schema.const !== undefined) return schema.const;
  if (schema.default !== undefined) return schema.default;
  for (const list of [schema.examples, schema.enum]) if (Array.isArray(list) && list.length > 0) return list[0];
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (type === "string") return "text";
  if (type === "number" || type === "integer") return typeof schema.minimum === "number" ? schema.minimum : 1;
  if (type === "boolean") return true;
  if (type === "array") return [example(schema.items, depth + 1)].filter((item) => item !== null);
  if (!isJsonObject(schema.properties)) return type === "object" ? {} : null;
  return Object.fromEntries(
    Object.entries(schema.properties).map(([name, inner]) => [name, example(inner, depth + 1)]),
  );
}

/** Arguments to begin with: the plainest that fit what a tool takes, as far as it says. */
export function exampleArguments(parameters: unknown): Record<string, unknown> {
  const value = example(parameters, 0);
  return isJsonObject(value) ? value : {};
}
