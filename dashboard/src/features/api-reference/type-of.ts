import type { OpenApi, Schema } from "../../entities/server/openapi-api.ts";

/** Returns the type of a value in words: `string`, `test | live`, `integer or null`, `list of object`, `Run`. */
export function typeOf(schema: Schema, document: OpenApi): string {
  if (schema.$ref) return schema.$ref.split("/").at(-1) ?? "object";
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => (value === null ? "null" : String(value))).join(" | ");
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) {
    const words = [...new Set(choices.map((choice) => typeOf(choice, document)))];
    return choices.every(({ const: word }) => typeof word === "string")
      ? choices.map(({ const: word }) => String(word)).join(" | ")
      : words.join(" or ");
  }
  if (schema.items) return `list of ${typeOf(schema.items, document)}`;
  if (Array.isArray(schema.type)) return schema.type.join(" or ");
  if (schema.type === "object" && !schema.properties) return "object";
  return schema.format === "date-time" ? "time" : (schema.type ?? (schema.properties ? "object" : "any"));
}
