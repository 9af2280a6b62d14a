import { type Static, Type } from "@sinclair/typebox";
import { deliveryStatuses, testEvent, webhookEvents } from "../../domain/api-types/enums.ts";
import { EnabledInput, idOf, Metadata } from "../../http/schemas.ts";
import { about, closedObject, oneOf, orNull, partial, partly } from "../../lib/schema.ts";

const url = about(
  "Where events are sent: `https`, or `http` to this machine in `test`.",
  Type.String({ minLength: 1, maxLength: 2048 }),
);
const events = about(
  "The events that the webhook receives; `*`: all.",
  Type.Array(oneOf([...webhookEvents, "*"]), { minItems: 1, maxItems: 20, uniqueItems: true }),
);
const others = {
  description: about("A note for people on what it is used for; null: none.", orNull(Type.String({ maxLength: 1024 }))),
  enabled: EnabledInput,
  metadata: Metadata,
};

export const CreateWebhook = partly({ url, events }, others);
export type CreateWebhook = Static<typeof CreateWebhook>;

export const UpdateWebhook = partial({ url, events, ...others });
export type UpdateWebhook = Static<typeof UpdateWebhook>;

/** Body of `POST /v1/webhooks/:id/rotate_secret`: seconds that the former secret still signs, too; default: a day. */
export const RotateSecret = partial({
  overlap_seconds: about(
    "How many seconds the old secret stays valid.",
    Type.Integer({ minimum: 0, maximum: 7 * 24 * 3600 }),
  ),
});
export type RotateSecret = Static<typeof RotateSecret>;

/** Body of `POST /v1/webhooks/:id/redeliver`. */
export const RedeliverAll = closedObject({
  since: about("From when on failed deliveries are sent again.", Type.String({ maxLength: 64 })),
});
export type RedeliverAll = Static<typeof RedeliverAll>;

export const deliveryFilters = {
  status: about("Only items with this status.", oneOf(deliveryStatuses)),
  type: about("Only items of this type.", oneOf([...webhookEvents, testEvent])),
  run_id: about("The id of the run.", idOf("run")),
};
