import { type Static, Type } from "@sinclair/typebox";
import { toolTypes, unknownPolicies } from "../core/agent-snapshot.ts";
import { JsonObject, Metadata, oneOf } from "../http/schemas.ts";

export const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] as const;

const closed = { additionalProperties: false };

// What only an HTTP tool has; whether a tool may have it is a rule of definition.ts.
const http = {
  url: Type.String({ minLength: 1, maxLength: 2048 }),
  method: oneOf(methods),
  headers: Type.Record(Type.String({ pattern: "^[\\s\\S]{1,256}$" }), Type.String({ maxLength: 8192 }), {
    maxProperties: 50,
    ...closed,
  }),
  timeout_ms: Type.Integer({ minimum: 1000, maximum: 600_000 }),
  retries: Type.Integer({ minimum: 0, maximum: 5 }),
  response: oneOf(["json", "text"]),
  idempotent: Type.Boolean(),
};
export const httpFields = Object.keys(http) as (keyof typeof http)[];

const fields = {
  name: Type.String({ pattern: "^[A-Za-z0-9_-]{1,64}$" }),
  description: Type.String({ maxLength: 4096 }),
  parameters: JsonObject,
  approval: Type.Union([Type.Literal("never"), Type.Literal("always"), Type.Object({ when: JsonObject }, closed)]),
  on_unknown: oneOf(unknownPolicies),
  max_output_bytes: Type.Integer({ minimum: 1, maximum: 262_144 }),
  enabled: Type.Boolean(),
  metadata: Metadata,
  ...http,
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

export const toolFilters = { type: toolTypes };
