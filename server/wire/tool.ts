import { type Static, Type } from "@sinclair/typebox";
import { codeLanguages, toolTypes, unknownPolicies } from "../core/agent-snapshot.ts";
import { FileFacts } from "./file.ts";
import {
  anyObject,
  anything,
  boolean,
  CodedError,
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
} from "./schema.ts";

// Of tools of some types only.
const own = {
  url: optional(text),
  method: optional(text),
  headers: optional(map(text)),
  timeout_ms: optional(integer),
  retries: optional(integer),
  response: optional(oneOf(["json", "text"])),
  idempotent: optional(boolean),
  language: optional(oneOf(codeLanguages)),
  source: optional(orNull(text)),
  memory_mb: optional(integer),
  files: optional(list(text)),
  server_url: optional(text),
  allowed_tools: optional(orNull(list(text))),
  tools: optional(list(object({ name: text, description: text, parameters: anyObject }))),
  skipped: optional(list(object({ name: text, reason: text }))),
  listed_at: optional(orNull(time)),
  last_error: optional(orNull(object({ code: text, message: text, at: time }))),
  agent_id: optional(text),
  signing_secret: optional(text),
};

export const Tool = resource("Tool", "tool", {
  name: text,
  type: oneOf(toolTypes),
  description: text,
  parameters: orNull(anyObject),
  approval: Type.Union([oneOf(["never", "always"]), object({ when: optional(anyObject) })]),
  on_unknown: oneOf(unknownPolicies),
  max_output_bytes: integer,
  enabled: boolean,
  updated_at: time,
  ...own,
});
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
