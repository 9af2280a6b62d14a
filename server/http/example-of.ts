import { type Kind, prefixes } from "../domain/ids.ts";
import { firstItem, lastItem } from "../lib/collections.ts";
import { requireValue } from "../lib/require-value.ts";
import type { Schema } from "./openapi-components.ts";

const sha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
const time = "2026-11-21T01:20:00.123Z";

/** Example texts by field name. If the field is an enum, the text is used only if it is a member. */
const texts: Record<string, string> = {
  code: "tool_failed",
  content: "Hello",
  cron: "0 9 * * *",
  delta: "Hello",
  event: "run.completed",
  filename: "notes.txt",
  heading: "Opening hours",
  input: "Hello",
  instructions: "Answer in one sentence.",
  message: "The tool returned 503.",
  mime_type: "text/plain",
  model: "test/echo",
  name: "support",
  note: "It has more pages than the model may read.",
  output: "Hello",
  query: "opening hours",
  reason: "No longer needed.",
  role: "user",
  since: time,
  status: "completed",
  text: "We are open from nine to five.",
  timezone: "Europe/Berlin",
  title: "Opening hours",
  tool: "search",
  type: "http",
  url: "https://example.com/hook",
  value: "s3cret",
};

/** Kind of id by the name of the field or object. */
const kindOf: Record<string, Kind> = {
  entry: "memory_entry",
  ...(Object.fromEntries(Object.keys(prefixes).map((kind) => [kind, kind])) as Record<Kind, Kind>),
};
const someId = "01k6w3v5r8d2f9h1j4m7n0p3qs";

/** Finds the kind that a name contains: `subagent_run` is a run, `file_reference` a file. */
function kindIn(words: string): Kind | undefined {
  const kinds = Object.keys(kindOf);
  const found =
    kinds.findLast((kind) => `_${words}`.endsWith(`_${kind}`)) ??
    kinds.findLast((kind) => words.startsWith(`${kind}_`));
  return found === undefined ? undefined : kindOf[found];
}

/**
 * Returns an example of a schema: its required fields, or the first optional one. `name` is the field's name; `kind` is
 * the object's kind if the schema does not tell.
 */
export function exampleOf(schema: Schema, schemas: Record<string, Schema>, name = "", kind = ""): unknown {
  const { $ref, type, pattern, properties, items, anyOf } = schema as {
    [keyword: string]: unknown;
    pattern?: string;
    properties?: Record<string, Schema>;
    items?: Schema;
    anyOf?: Schema[];
  };
  if (typeof $ref === "string") {
    const component = componentOf($ref);
    return exampleOf(requireValue(schemas[component], $ref), schemas, name, kind || snake(component));
  }
  if ("example" in schema) return schema.example;
  if ("const" in schema) return schema.const;
  if (Array.isArray(schema.enum)) return choiceOf(schema.enum, name);
  if (anyOf) return mayBeNoObject(anyOf, schemas) ? null : exampleOf(firstItem(anyOf), schemas, name);
  if (properties) return objectOf(schema, properties, schemas, kind || name);
  if (type === "array" && items) return [exampleOf(items, schemas, name.replace(/s$/, ""))];
  if (type === "integer" || type === "number") return schema.minimum ?? 1;
  if (type === "boolean") return true;
  if (type === "string") return textOf(schema, pattern, name);
  return {};
}

const snake = (component: string): string => component.replaceAll(/(?<!^)(?=[A-Z])/g, "_").toLowerCase();

const choiceOf = (choices: readonly unknown[], name: string): unknown =>
  choices.find((one) => one === texts[name]) ?? choices[0];

const componentOf = ($ref: string): string => lastItem($ref.split("/"));

/** True if the schema is an object or null, like an error: the example is then null, its most frequent value. */
function mayBeNoObject(choices: readonly Schema[], schemas: Record<string, Schema>): boolean {
  const isObject = ({ $ref, type }: Schema): boolean =>
    typeof $ref === "string" ? isObject(requireValue(schemas[componentOf($ref)], $ref)) : type === "object";
  return choices.some(({ type }) => type === "null") && choices.some(isObject);
}

function objectOf(
  schema: Schema,
  properties: Record<string, Schema>,
  schemas: Record<string, Schema>,
  place: string,
): object {
  const required = (schema.required as string[] | undefined) ?? [];
  const fields = required.length > 0 ? required : Object.keys(properties).slice(0, 1);
  const exampleObject: Record<string, unknown> = {};
  for (const field of fields) {
    const objectName = String(exampleObject.object ?? properties.object?.const ?? place);
    const fieldName = ["id", "type"].includes(field) ? `${objectName}_${field}` : field;
    exampleObject[field] = exampleOf(requireValue(properties[field], `The property ${field}`), schemas, fieldName);
  }
  return exampleObject;
}

function textOf({ format }: Schema, pattern: string | undefined, name: string): string {
  const [, prefix] = /^\^([a-z]+)_\[/.exec(pattern ?? "") ?? [];
  if (prefix) return `${prefix}_${someId}`;
  if (format === "date-time") return time;
  if (texts[name] !== undefined) return texts[name];
  const [, about = "", last] = /^(.*)_(id|type)$/.exec(name) ?? [];
  if (last === "type") return requireValue(texts.type, "The example of a type");
  const kind = last && kindIn(about);
  if (kind) return `${prefixes[kind]}_${someId}`;
  return /sha256|hash$/.test(name) ? sha256 : name || "text";
}
