import { type Static, Type } from "@sinclair/typebox";
import { permissions } from "../core/scope.ts";
import { idOf, Metadata, oneOf, orNull } from "../http/schemas.ts";

export const CreateKey = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 128 }),
    scopes: Type.Array(oneOf(permissions), { minItems: 1, maxItems: 3, uniqueItems: true }),
    expires_in_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 10 * 365 * 86_400 })),
    agent_ids: Type.Optional(orNull(Type.Array(idOf("agent"), { minItems: 1, maxItems: 100, uniqueItems: true }))),
    allowed_cidrs: Type.Optional(orNull(Type.Array(Type.String({ maxLength: 64 }), { minItems: 1, maxItems: 100 }))),
    metadata: Type.Optional(Metadata),
  },
  { additionalProperties: false },
);
export type CreateKey = Static<typeof CreateKey>;
