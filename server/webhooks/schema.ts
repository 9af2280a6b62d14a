import { type Static, Type } from "@sinclair/typebox";
import { idOf, Metadata } from "../http/schemas.ts";
import { oneOf, orNull } from "../lib/schema.ts";
import { deliveryStatuses, testEvent, webhookEvents } from "../wire/names.ts";

const closed = { additionalProperties: false };

const url = Type.String({ minLength: 1, maxLength: 2048 });
const events = Type.Array(oneOf([...webhookEvents, "*"]), { minItems: 1, maxItems: 20, uniqueItems: true });
const others = {
  description: orNull(Type.String({ maxLength: 1024 })),
  enabled: Type.Boolean(),
  metadata: Metadata,
};

export const CreateWebhook = Type.Composite([Type.Object({ url, events }), Type.Partial(Type.Object(others))], closed);
export type CreateWebhook = Static<typeof CreateWebhook>;

export const UpdateWebhook = Type.Partial(Type.Object({ url, events, ...others }), closed);
export type UpdateWebhook = Static<typeof UpdateWebhook>;

/** Body of `POST /v1/webhooks/:id/rotate_secret`: how long the secret before it signs too, a day by default. */
export const RotateSecret = Type.Partial(
  Type.Object({ overlap_seconds: Type.Integer({ minimum: 0, maximum: 7 * 24 * 3600 }) }),
  closed,
);
export type RotateSecret = Static<typeof RotateSecret>;

/** Body of `POST /v1/webhooks/:id/redeliver`. */
export const RedeliverAll = Type.Object({ since: Type.String({ maxLength: 64 }) }, closed);
export type RedeliverAll = Static<typeof RedeliverAll>;

export const NoBody = Type.Object({}, closed);

export const deliveryFilters = {
  status: oneOf(deliveryStatuses),
  type: oneOf([...webhookEvents, testEvent]),
  run_id: idOf("run"),
};
