import { type Static, Type } from "@sinclair/typebox";
import { codeLanguages, toolTypes, unknownPolicies } from "../core/agent-snapshot.ts";
import { idOf, JsonObject, Metadata, named, oneOf, orNull } from "../http/schemas.ts";

export const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] as const;

const closed = { additionalProperties: false };

const address = Type.String({ minLength: 1, maxLength: 2048 });

// What only tools of some types have; which ones is a rule of own-fields.ts, and bounds by type are rules of check.ts.
const own = {
  url: address,
  method: oneOf(methods),
  headers: named(
    "ToolHeaders",
    Type.Record(Type.String({ pattern: "^[\\s\\S]{1,256}$" }), Type.String({ maxLength: 8192 }), {
      maxProperties: 50,
      ...closed,
    }),
  ),
  timeout_ms: Type.Integer({ minimum: 100, maximum: 600_000 }),
  retries: Type.Integer({ minimum: 0, maximum: 5 }),
  response: oneOf(["json", "text"]),
  idempotent: Type.Boolean(),
  language: oneOf(codeLanguages),
  source: orNull(Type.String({ maxLength: 262_144 })),
  memory_mb: Type.Integer({ minimum: 16, maximum: 1024 }),
  files: Type.Array(idOf("file"), { maxItems: 20, uniqueItems: true }),
  server_url: address,
  allowed_tools: orNull(
    Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { maxItems: 1000, uniqueItems: true }),
  ),
  agent_id: idOf("agent"),
};
export type OwnField = keyof typeof own;

const fields = {
  name: Type.String({ pattern: "^[A-Za-z0-9_-]{1,64}$" }),
  description: Type.String({ maxLength: 4096 }),
  parameters: JsonObject,
  approval: Type.Union([
    Type.Literal("never"),
    Type.Literal("always"),
    named("ApprovalCondition", Type.Object({ when: JsonObject }, closed)),
  ]),
  on_unknown: oneOf(unknownPolicies),
  max_output_bytes: Type.Integer({ minimum: 1, maximum: 262_144 }),
  enabled: Type.Boolean(),
  metadata: Metadata,
  ...own,
};

const { name, ...others } = fields;

export const CreateTool = Type.Composite(
  [Type.Object({ name, type: Type.Optional(oneOf(toolTypes)) }), Type.Partial(Type.Object(others))],
  closed,
);
export type CreateTool = Static<typeof CreateTool>;

/** A tool's type stands: its calls would change their meaning. */
export const UpdateTool = Type.Partial(Type.Object(fields), closed);
export type UpdateTool = Static<typeof UpdateTool>;

/** Body of `POST /v1/tools/:id/test`; `tool` is the one of an MCP server that is meant. */
export const TestTool = Type.Object(
  { arguments: JsonObject, tool: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })) },
  closed,
);
export type TestTool = Static<typeof TestTool>;

export const RefreshTool = Type.Object({}, closed);

export const toolFilters = { type: toolTypes };
