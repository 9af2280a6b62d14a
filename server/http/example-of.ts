import { type Kind, prefixes } from "../core/ids.ts";
import type { Schema } from "./openapi-components.ts";

const sha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
const time = "2026-11-21T01:20:00.123Z";

/** What a text is by its field; where a field has choices, it is one of these. */
const texts: Record<string, string> = {
  action: "agent.updated",
  allowed_cidr: "10.0.0.0/8",
  allowed_tool: "search",
  as_of: "2026-11-01",
  body: '{"object":"event","type":"run.completed"}',
  callback_url: "https://example.com/v1/tool_calls",
  code: "tool_failed",
  content: "Hello",
  content_base64: "SGVsbG8=",
  cron: "0 9 * * *",
  day: "2026-11-21",
  delta: "Hello",
  description: "Answers questions of customers.",
  event: "run.completed",
  filename: "notes.txt",
  finish_reason: "stop",
  from: "2026-11-01",
  heading: "Opening hours",
  input: "Hello",
  instructions: "Answer in one sentence.",
  ip: "127.0.0.1",
  key: "language",
  last4: "x7q2",
  last_used_ip: "127.0.0.1",
  message: "The tool returned 503.",
  method: "GET",
  mime_type: "text/plain",
  model: "test/echo",
  model_id: "test/echo",
  name: "support",
  output: "Hello",
  path: "/output",
  prefix: "sk_test_",
  project: "default",
  provider: "test",
  query: "opening hours",
  reason: "No longer needed.",
  reasoning: "The question is about opening hours.",
  role: "user",
  scope_id: "user-42",
  secret: "<shown only once>",
  secret_prefix: "whsec_",
  server_url: "https://example.com/mcp",
  session_id: "session-7",
  since: time,
  source: "(args) => args",
  status: "completed",
  text: "We are open from nine to five.",
  timezone: "Europe/Berlin",
  title: "Opening hours",
  to: "2026-11-30",
  token: "<shown only once>",
  tool: "search",
  type: "http",
  url: "https://example.com/hook",
  user_id: "user-42",
  value: "s3cret",
};

/** Of what is shown, the work is done: it has ended, and has an output. */
const ends = ["ready", "passed", "delivered", "equal"];

/** Null most of the time: what few things have, or those that have ended no more. */
const rare = new Set([
  ...["disabled_reason", "next_attempt_at", "parent_run_id", "previous_secret_expires_at", "queue_position"],
  ...["replay_of", "revoked_at", "exposed_at", "rotated_from", "rotated_to", "subagent_run_id", "note"],
]);

/** Of what there are ids beside the things that have one of their own. */
const kindOf: Record<string, Kind> = {
  entry: "memory_entry",
  ...(Object.fromEntries(Object.keys(prefixes).map((kind) => [kind, kind])) as Record<Kind, Kind>),
  ...{ agent_version: "agent", approval: "tool_call", audit_entry_actor: "api_key", memory_match: "memory_entry" },
  ...{ audit_entry_target: "agent", decider: "api_key", me: "api_key", parent: "step", schedule_run: "firing" },
  ...{ trace_step: "step", webhook_redelivery: "webhook" },
};
/** Fields that are ids without saying so by their names. */
const idFields: Record<string, Kind> = {
  ...{ a: "run", b: "run", replay_of: "run", file: "file", created_by: "api_key" },
  ...{ rotated_from: "api_key", rotated_to: "api_key" },
};
const someId = "01k6w3v5r8d2f9h1j4m7n0p3qs";
const idOf = (kind: Kind): string => `${prefixes[kind]}_${someId}`;

/** Which of them some words are about, as `subagent_run` is about a run and `file_reference` about a file. */
function kindIn(words: string): Kind | undefined {
  const kinds = Object.keys(kindOf);
  const found =
    kinds.findLast((kind) => `_${words}`.endsWith(`_${kind}`)) ??
    kinds.findLast((kind) => words.startsWith(`${kind}_`));
  return found === undefined ? undefined : kindOf[found];
}

/**
 * A value that fits a schema of the document: what is required, or the first of all that is optional. `name` is what it is
 * called where it stands, and `kind` what it is about, for a schema that does not say it.
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
    const component = $ref.split("/").at(-1)!;
    return exampleOf(schemas[component]!, schemas, name, kind || snake(component));
  }
  if ("example" in schema) return schema.example;
  if ("const" in schema) return schema.const;
  if (Array.isArray(schema.enum)) return choiceOf(schema.enum, name);
  if (anyOf) return isRare(anyOf, schemas, name) ? null : exampleOf(anyOf[0]!, schemas, name);
  if (properties) return objectOf(schema, properties, schemas, kind || name);
  if (type === "array") return [exampleOf(items!, schemas, name.replace(/s$/, ""))];
  if (type === "integer" || type === "number") return schema.minimum ?? 1;
  if (type === "boolean") return true;
  if (type === "string") return textOf(schema, pattern, name);
  return {};
}

const snake = (component: string): string => component.replaceAll(/(?<!^)(?=[A-Z])/g, "_").toLowerCase();

const choiceOf = (choices: readonly unknown[], name: string): unknown =>
  choices.find((one) => one === texts[name] || (name === "status" && ends.includes(one as string))) ?? choices[0];

/** Whether it is null most of the time, as an error or what a run waits for. */
function isRare(choices: readonly Schema[], schemas: Record<string, Schema>, name: string): boolean {
  const isObject = ({ $ref, type }: Schema): boolean =>
    typeof $ref === "string" ? isObject(schemas[$ref.split("/").at(-1)!]!) : type === "object";
  return choices.some(({ type }) => type === "null") && (rare.has(name) || choices.some(isObject));
}

function objectOf(
  schema: Schema,
  properties: Record<string, Schema>,
  schemas: Record<string, Schema>,
  place: string,
): object {
  const required = (schema.required as string[] | undefined) ?? [];
  const fields = required.length > 0 ? required : Object.keys(properties).slice(0, 1);
  const made: Record<string, unknown> = {};
  for (const field of fields) {
    const about = String(made.object ?? properties.object?.const ?? place);
    const called = ["id", "object", "type"].includes(field) ? `${about}_${field}` : field;
    made[field] = exampleOf(properties[field]!, schemas, called);
  }
  return made.object === "list" ? aPage(made as { data: { id?: string }[] }) : made;
}

function aPage({ data: [item = {}], ...rest }: { data: { id?: string }[] }) {
  const { id = null } = item;
  return { ...rest, data: [item], ...("first_id" in rest && { has_more: false, first_id: id, last_id: id }) };
}

function textOf({ format }: Schema, pattern: string | undefined, name: string): string {
  const [, prefix] = /^\^([a-z]+)_\[/.exec(pattern ?? "") ?? [];
  if (prefix) return `${prefix}_${someId}`;
  if (format === "date-time") return time;
  if (texts[name] !== undefined) return texts[name];
  const [, about = "", last] = /^(.*)_(id|object|type)$/.exec(name) ?? [];
  const kind = last ? kindIn(about) : idFields[name];
  if (last === "object") return about;
  if (last === "type") return ["agent", "api_key"].includes(kind ?? "") ? kind! : texts.type!;
  if (kind) return idOf(kind);
  return /sha256|hash$/.test(name) ? sha256 : name || "text";
}
