import { prefixes } from "../core/ids.ts";
import type { Schema } from "./openapi-components.ts";

const texts: Record<string, string> = {
  content: "Hello",
  cron: "0 9 * * *",
  events: "run.completed",
  filename: "notes.txt",
  input: "Hello",
  instructions: "Answer in one sentence.",
  model: "test/echo",
  model_id: "test/echo",
  object: "agent",
  name: "support",
  query: "opening hours",
  reason: "No longer needed.",
  scope_id: "user-42",
  session_id: "session-7",
  since: "2026-11-21T01:20:00.123Z",
  text: "We are open from nine to five.",
  timezone: "Europe/Berlin",
  url: "https://example.com/hook",
  user_id: "user-42",
};
/** Of things that have the id of another one, too. */
const prefixOf: Record<string, string> = {
  ...prefixes,
  agent_version: "agt",
  approval: "call",
  me: "key",
  parent: "stp",
};
const someId = "01k6w3v5r8d2f9h1j4m7n0p3qs";

/** A value that fits a schema of the document: what is required, or the first of all that is optional. */
export function exampleOf(schema: Schema, schemas: Record<string, Schema>, name = ""): unknown {
  const { $ref, type, pattern, properties, items, anyOf } = schema as {
    [keyword: string]: unknown;
    pattern?: string;
    properties?: Record<string, Schema>;
    items?: Schema;
    anyOf?: Schema[];
  };
  if (typeof $ref === "string") return exampleOf(schemas[$ref.split("/").at(-1)!]!, schemas, name);
  if ("example" in schema) return schema.example;
  if ("const" in schema) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  if (anyOf) return isRare(anyOf, schemas) ? null : exampleOf(anyOf[0]!, schemas, name);
  if (properties) {
    const required = (schema.required as string[] | undefined) ?? [];
    const fields = required.length > 0 ? required : Object.keys(properties).slice(0, 1);
    const kind = properties.object?.const ?? texts.object;
    const made = fields.map((field) => [
      field,
      exampleOf(properties[field]!, schemas, field === "id" ? `${kind}_id` : field),
    ]);
    return kind === "list" ? aPage(Object.fromEntries(made)) : Object.fromEntries(made);
  }
  if (type === "array") return [exampleOf(items!, schemas, name)];
  if (type === "integer" || type === "number") return schema.minimum ?? 1;
  if (type === "boolean") return true;
  if (type === "string") return textOf(schema, pattern, name);
  return {};
}

/** Whether an object may be null: most of the time it is, as an error or what a run waits for. */
function isRare(choices: readonly Schema[], schemas: Record<string, Schema>): boolean {
  const isObject = ({ $ref, type }: Schema): boolean =>
    typeof $ref === "string" ? isObject(schemas[$ref.split("/").at(-1)!]!) : type === "object";
  return choices.some(({ type }) => type === "null") && choices.some(isObject);
}

function aPage({ data: [item = {}], ...rest }: { data: { id?: string }[] }) {
  const { id = null } = item;
  return { ...rest, data: [item], ...("first_id" in rest && { has_more: false, first_id: id, last_id: id }) };
}

function textOf({ format }: Schema, pattern: string | undefined, name: string): string {
  const kind = Object.keys(prefixOf).findLast((one) => `_${name}`.endsWith(`_${one}_id`)) ?? "";
  const [, prefix = prefixOf[kind]] = /^\^([a-z]+)_\[/.exec(pattern ?? "") ?? [];
  if (prefix) return `${prefix}_${someId}`;
  return format === "date-time" ? "2026-11-21T01:20:00.123Z" : (texts[name] ?? (name || "text"));
}
