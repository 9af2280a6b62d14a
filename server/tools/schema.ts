import { type Static, Type } from "@sinclair/typebox";
import { toolTypes, unknownPolicies } from "../core/agent-snapshot.ts";
import { JsonObject, Metadata } from "../http/schemas.ts";
import { named, oneOf } from "../lib/schema.ts";
import { ownFields } from "./types/tool-kinds.ts";

const closed = { additionalProperties: false };

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
  // Of tools of some types; bounds by type are rules of their modules.
  ...ownFields,
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

export const toolFilters = { type: oneOf(toolTypes) };
