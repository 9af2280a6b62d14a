import { isJsonObject } from "./json-text.ts";

function example(schema: unknown, depth: number): unknown {
  if (!isJsonObject(schema) || depth > 4) return null;
  if (schema.const !== undefined) return schema.const;
  if (schema.default !== undefined) return schema.default;
  for (const list of [schema.examples, schema.enum]) if (Array.isArray(list) && list.length > 0) return list[0];
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (type === "string") return exampleText(schema);
  if (type === "number" || type === "integer") return typeof schema.minimum === "number" ? schema.minimum : 1;
  if (type === "boolean") return true;
  if (type === "array") return [example(schema.items, depth + 1)].filter((item) => item !== null);
  if (!isJsonObject(schema.properties)) return type === "object" ? {} : null;
  return Object.fromEntries(
    Object.entries(schema.properties).map(([name, inner]) => [name, example(inner, depth + 1)]),
  );
}

const ofFormat: Record<string, string> = {
  date: "2026-01-31",
  "date-time": "2026-01-31T12:00:00Z",
  time: "12:00:00Z",
  duration: "P1D",
  email: "ada@example.com",
  uri: "https://example.com",
  hostname: "example.com",
  ipv4: "192.0.2.1",
  ipv6: "2001:db8::1",
  uuid: "123e4567-e89b-12d3-a456-426614174000",
};

const longestExample = 1000;

function exampleText({ format, minLength, maxLength }: Record<string, unknown>): string {
  const known = typeof format === "string" && Object.hasOwn(ofFormat, format) ? ofFormat[format] : undefined;
  if (known) return known;
  const length = (value: unknown, other: number) => (typeof value === "number" ? value : other);
  const least = Math.min(length(minLength, 0), longestExample);
  return "text".padEnd(least, "x").slice(0, Math.max(0, length(maxLength, longestExample)));
}

/** Generates the simplest arguments that match a tool's schema. */
export function exampleArguments(parameters: unknown): Record<string, unknown> {
  const value = example(parameters, 0);
  return isJsonObject(value) ? value : {};
}
