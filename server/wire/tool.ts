import { type Static, type TProperties, Type } from "@sinclair/typebox";
import { type ApprovalRule, codeLanguages, type ToolType, toolTypes, unknownPolicies } from "../core/agent-snapshot.ts";
import { FileFacts } from "./file.ts";
import {
  anyObject,
  anything,
  boolean,
  CodedError,
  choiceOf,
  envelope,
  integer,
  list,
  map,
  named,
  object,
  oneOf,
  optional,
  orNull,
  resource,
  text,
  time,
  typed,
  word,
} from "./schema.ts";

const request = {
  url: text,
  headers: map(text),
  timeout_ms: integer,
  retries: integer,
  idempotent: boolean,
  signing_secret: optional(text),
};
const listed = object({ name: text, description: text, parameters: anyObject });

// What tools of each type have beside the rest.
const own = {
  http: { ...request, method: text, response: oneOf(["json", "text"]) },
  webhook: request,
  client: {},
  code: {
    language: oneOf(codeLanguages),
    source: orNull(text),
    timeout_ms: integer,
    memory_mb: integer,
    files: list(text),
  },
  mcp: {
    server_url: text,
    headers: map(text),
    timeout_ms: integer,
    allowed_tools: orNull(list(text)),
    tools: list(listed),
    skipped: list(object({ name: text, reason: text })),
    listed_at: orNull(time),
    last_error: orNull(object({ code: text, message: text, at: time })),
  },
  agent: { agent_id: text },
} satisfies Record<ToolType, TProperties>;

const shared = {
  name: text,
  type: oneOf(toolTypes),
  description: text,
  parameters: orNull(anyObject),
  approval: typed<ApprovalRule>(Type.Union([oneOf(["never", "always"]), object({ when: optional(anyObject) })])),
  on_unknown: oneOf(unknownPolicies),
  max_output_bytes: integer,
  enabled: boolean,
  updated_at: time,
};
const ofType = <T extends ToolType>(type: T) =>
  resource(`${type[0]!.toUpperCase()}${type.slice(1)}Tool`, "tool", { ...shared, type: word(type), ...own[type] });

// Flat for who reads it: what a type lacks is absent.
const Flat = resource("Tool", "tool", {
  ...shared,
  ...Type.Partial(object({ ...own.http, ...own.webhook, ...own.code, ...own.mcp, ...own.agent })).properties,
});

/** A tool of any type. */
export const Tool = Type.Unsafe<Static<typeof Flat>>(
  choiceOf("Tool", "type", Object.fromEntries(toolTypes.map((type) => [type, ofType(type)]))),
);
export type Tool = Static<typeof Tool>;

export const ToolTest = named(
  "ToolTest",
  object({
    output: anything,
    error: orNull(CodedError),
    attempts: integer,
    latency_ms: integer,
    files: optional(list(FileFacts)),
    ...envelope,
  }),
);
export type ToolTest = Static<typeof ToolTest>;
