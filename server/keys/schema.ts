import { type Static, Type } from "@sinclair/typebox";
import { permissions } from "../core/scope.ts";
import { Metadata, oneOf, orNull } from "../http/schemas.ts";

export const CreateKey = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 128 }),
    scopes: Type.Array(oneOf(permissions), { minItems: 1, maxItems: 3, uniqueItems: true }),
    expires_in_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 10 * 365 * 86_400 })),
    // What an agent's id looks like is a rule of routes.ts: a union's fault would not say which one is wrong.
    agent_ids: Type.Optional(orNull(Type.Array(Type.String(), { minItems: 1, maxItems: 100, uniqueItems: true }))),
    allowed_cidrs: Type.Optional(orNull(Type.Array(Type.String({ maxLength: 64 }), { minItems: 1, maxItems: 100 }))),
    metadata: Type.Optional(Metadata),
  },
  { additionalProperties: false },
);
export type CreateKey = Static<typeof CreateKey>;
