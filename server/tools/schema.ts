import { type Static, Type } from "@sinclair/typebox";
import { toolTypes } from "../core/agent-snapshot.ts";
import { JsonObject } from "../http/schemas.ts";
import { oneOf } from "../lib/schema.ts";
import { commonFields } from "./types/tool-kind.ts";
import { ownFields } from "./types/tool-kinds.ts";

const closed = { additionalProperties: false };

const fields = { ...commonFields, ...ownFields };

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
