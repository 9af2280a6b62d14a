import { type Static, type TProperties, Type } from "@sinclair/typebox";
import { type ApprovalRule, codeLanguages, type ToolType, toolTypes, unknownPolicies } from "../core/agent-snapshot.ts";
import { FileFacts } from "../core/run-event.ts";
import * as t from "../lib/schema.ts";
import { CodedError, choiceOf, envelope, resource, told } from "./schema.ts";

const request = {
  url: t.text,
  headers: t.map(t.text),
  timeout_ms: t.integer,
  retries: t.integer,
  idempotent: t.boolean,
  signing_secret: t.optional(t.text),
};
const listed = t.named("McpListedTool", t.object({ name: t.text, description: t.text, parameters: t.anyObject }));

// What tools of each type have beside the rest.
const own = {
  http: { ...request, method: t.text, response: t.oneOf(["json", "text"]) },
  webhook: request,
  client: {},
  code: {
    language: t.oneOf(codeLanguages),
    source: t.orNull(t.text),
    timeout_ms: t.integer,
    memory_mb: t.integer,
    files: t.list(t.text),
  },
  mcp: {
    server_url: t.text,
    headers: t.map(t.text),
    timeout_ms: t.integer,
    allowed_tools: t.orNull(t.list(t.text)),
    tools: t.list(listed),
    skipped: t.list(t.named("McpSkippedTool", t.object({ name: t.text, reason: t.text }))),
    listed_at: t.orNull(t.time),
    last_error: t.orNull(t.named("McpFailure", t.object({ code: t.text, message: t.text, at: t.time }))),
  },
  agent: { agent_id: t.text },
} satisfies Record<ToolType, TProperties>;

const shared = {
  name: t.text,
  type: t.oneOf(toolTypes),
  description: t.text,
  parameters: t.orNull(t.anyObject),
  approval: t.typed<ApprovalRule>(
    Type.Union([t.oneOf(["never", "always"]), t.named("ToolApproval", t.object({ when: t.optional(t.anyObject) }))]),
  ),
  on_unknown: t.oneOf(unknownPolicies),
  max_output_bytes: t.integer,
  enabled: t.boolean,
  updated_at: t.time,
};
const ofType = <T extends ToolType>(type: T) =>
  resource(`${type[0]!.toUpperCase()}${type.slice(1)}Tool`, "tool", { ...shared, type: t.word(type), ...own[type] });

// Flat for who reads it: what a type lacks is absent.
const Flat = resource("Tool", "tool", {
  ...shared,
  ...Type.Partial(t.object({ ...own.http, ...own.webhook, ...own.code, ...own.mcp, ...own.agent })).properties,
});

/** A tool of any type. */
export const Tool = Type.Unsafe<Static<typeof Flat>>(
  choiceOf("Tool", "type", Object.fromEntries(toolTypes.map((type) => [type, ofType(type)]))),
);
export type Tool = Static<typeof Tool>;

export const ToolTest = t.named(
  "ToolTest",
  t.object({
    output: t.anything,
    error: t.orNull(CodedError),
    attempts: t.integer,
    latency_ms: t.integer,
    files: t.optional(t.list(told(FileFacts))),
    ...envelope,
  }),
);
export type ToolTest = Static<typeof ToolTest>;
