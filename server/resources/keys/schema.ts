import { type Static, Type } from "@sinclair/typebox";
import { limits } from "../../domain/limits.ts";
import { clientScopes, permissions } from "../../domain/scope.ts";
import { Budget, idOf, Metadata, Subject } from "../../http/schemas.ts";
import { closedObject, named, oneOf, orNull } from "../../lib/schema.ts";

const Name = Type.String({ minLength: 1, maxLength: limits.name_length });
const Lifetime = Type.Integer({ minimum: 1, maximum: 10 * 365 * 86_400 });

export const CreateKey = closedObject({
  name: Name,
  scopes: Type.Array(oneOf(permissions), { minItems: 1, maxItems: 3, uniqueItems: true }),
  expires_in_seconds: Type.Optional(Lifetime),
  // The form of agent ids is checked in validate.ts, because a union's error would not name the invalid one.
  agent_ids: Type.Optional(orNull(Type.Array(Type.String(), { minItems: 1, maxItems: 100, uniqueItems: true }))),
  allowed_cidrs: Type.Optional(orNull(Type.Array(Type.String({ maxLength: 64 }), { minItems: 1, maxItems: 100 }))),
  metadata: Type.Optional(Metadata),
});
export type CreateKey = Static<typeof CreateKey>;

/** Rights cannot be changed, because the holder of the secret relies on them. */
export const UpdateKey = closedObject({
  name: Type.Optional(Name),
  /** Null: never. */
  expires_at: Type.Optional(orNull(Type.String({ maxLength: 64 }))),
  metadata: Type.Optional(Metadata),
});
export type UpdateKey = Static<typeof UpdateKey>;

export const RotateKey = closedObject({
  overlap_seconds: Type.Optional(Type.Integer({ minimum: 0, maximum: 30 * 86_400, default: 86_400 })),
  expires_in_seconds: Type.Optional(Lifetime),
});
export type RotateKey = Static<typeof RotateKey>;

const PerMinute = Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 }));

/** Body of `POST /v1/client_tokens`. */
export const CreateClientToken = closedObject({
  agent_id: idOf("agent"),
  thread_id: Type.Optional(idOf("thread")),
  run_id: Type.Optional(idOf("run")),
  user_id: Type.Optional(Subject),
  scopes: Type.Array(oneOf(clientScopes), { minItems: 1, maxItems: clientScopes.length, uniqueItems: true }),
  expires_in: Type.Integer({ minimum: 1, maximum: 86_400 }),
  limits: Type.Optional(
    named(
      "ClientTokenLimitsInput",
      closedObject({ requests_per_minute: PerMinute, run_creations_per_minute: PerMinute }),
    ),
  ),
  budget: Type.Optional(Budget),
});
export type CreateClientToken = Static<typeof CreateClientToken>;
